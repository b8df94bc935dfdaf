// SPDX-License-Identifier: Apache-2.0
/// A line of progress for a person, as wide as his window.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>

#include <udtcat/units.hpp>

#include "tool/status/stats_text.hpp"

namespace udtcat::tool {

/// How much there is to move, where that is known, and how much of it has moved.
struct Amount {
  std::uint64_t done_bytes = 0;
  std::uint64_t all_bytes = 0;  ///< 0: not known
  std::string count{};          ///< of the things that move, "12 of 81 names"; empty: one thing
  std::string name{};           ///< of the one that is just moving
};

/// A transfer as a line of progress shows it.
struct ProgressSnapshot {
  Sample now{};
  std::optional<Amount> amount{};                       ///< none: nobody knows
  std::optional<std::chrono::milliseconds> patience{};  ///< silence after which the peer is given up
  std::string waits{};                                  ///< what for, besides data; empty: nothing
};

inline constexpr std::size_t kWholeLine = std::numeric_limits<std::size_t>::max();

/// Rates are those of the latest seconds; none is shown before it was measured for a second, no time left before three.
/// Threads: unsynchronised. Time is a part of what is shown.
class Progress {
 public:
  /// Its rates are those since time zero, whenever it is called.
  [[nodiscard]] static Progress of_whole_run();

  /// "[ 43 %] 1.29 GB of 3.00 GB  412 MB/s  0:04 left  RTT 75.1 ms  0.1 % lost", in at most `columns`: the parts that
  /// are wanted least are left out. Call it at each tick, as its rates are those between the calls.
  [[nodiscard]] std::string line(const ProgressSnapshot& snapshot, std::size_t columns);

 private:
  struct Point {
    std::chrono::nanoseconds at;
    std::uint64_t moved_bytes;
    std::uint64_t done_bytes;
  };

  void add(const ProgressSnapshot& snapshot);
  [[nodiscard]] std::optional<BitRate> rate(std::uint64_t Point::*bytes, std::chrono::nanoseconds least,
                                            std::chrono::nanoseconds window) const;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> left(const Amount& amount) const;

  std::deque<Point> points_;  // since the last silence, of the longest window
};

}  // namespace udtcat::tool
