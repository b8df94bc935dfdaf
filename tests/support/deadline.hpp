/// Waiting for a condition that another process brings about, and that nothing announces.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

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

}  // namespace udtcat::test
