// SPDX-License-Identifier: Apache-2.0
/// Runs an io_context until what a test waits for has happened.
#pragma once

#include <chrono>
#include <tuple>

#include <boost/asio/io_context.hpp>

namespace udtcat::test {

/// Longer than anything here takes on a busy machine; only a failing test waits for it.
inline constexpr auto kWatchdog = std::chrono::seconds(60);

/// Runs handlers until `done`; false when that took longer than `limit`. `done` may depend on the clock or on another
/// thread too: it is asked again and again, also while no handler is ready.
template <typename Condition>
[[nodiscard]] bool run_until(boost::asio::io_context& io, Condition done, std::chrono::milliseconds limit = kWatchdog) {
  constexpr auto kInterval = std::chrono::milliseconds(5);  // guess: fine enough for limits of 50 ms
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    io.restart();
    io.run_one_for(kInterval);
  }
  return true;
}

/// Runs handlers for a time that is itself the stimulus.
inline void run_for(boost::asio::io_context& io, std::chrono::milliseconds time) {
  std::ignore = run_until(
      io, [] { return false; }, time);
}

/// Runs the handlers that are ready, and those that they make ready.
inline void run_ready(boost::asio::io_context& io) {
  io.restart();
  io.poll();
}

}  // namespace udtcat::test
