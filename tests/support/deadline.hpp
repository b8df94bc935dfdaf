// SPDX-License-Identifier: Apache-2.0
/// Waiting for a condition that another process brings about, and that nothing announces.
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <tuple>

#include <poll.h>

namespace udtcat::test {

using Clock = std::chrono::steady_clock;

/// Looks again and again; true as soon as `condition` holds, false if it never did within `limit`.
[[nodiscard]] inline bool eventually(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
  constexpr auto kInterval = std::chrono::milliseconds(5);  // guess: fine enough for limits of a second
  const auto deadline = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kInterval);
  }
  return true;
}

/// Lets time pass that is part of a scenario: a pause of somebody's.
inline void let_pass(std::chrono::milliseconds time) {
  std::ignore = ::poll(nullptr, 0, static_cast<int>(time.count()));
}

}  // namespace udtcat::test
