// SPDX-License-Identifier: Apache-2.0
/// The fate of each segment on one direction of the link: sans-I/O, time is a parameter.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "wan/impairment.hpp"
#include "wan/link_settings.hpp"
#include "wan/super_packet.hpp"

namespace udtcat::wan {

using TimePoint = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// Segments that travel on together and arrive at `due`.
struct SegmentRun {
  std::size_t first = 0;
  std::size_t count = 0;
  TimePoint due;
  bool late = false;  ///< overtaken by what came after it
};

struct LinkCounters {
  std::uint64_t segments = 0;      ///< offered
  std::uint64_t bytes = 0;         ///< offered, IP
  std::uint64_t lost = 0;          ///< by chance
  std::uint64_t tail_dropped = 0;  ///< the queue was full
  std::uint64_t blacked_out = 0;   ///< the link was down
  std::uint64_t too_long = 0;      ///< for the path
  std::uint64_t reordered = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t undelivered = 0;  ///< packets that the kernel at the other end did not take
};

/// A queue of bounded bytes before a link of a rate, then chance, then a delay. Threads: unsynchronised.
class LinkModel {
 public:
  LinkModel(const LinkSettings& settings, Random& random);

  /// Decides the fate of one packet; what is not in `runs` afterwards has been lost. `runs` is cleared first.
  void offer(const Shape& shape, TimePoint now, std::vector<SegmentRun>& runs);

  /// From the next packet on. What is on its way arrives as it would have.
  void set(const LinkSettings& settings);
  /// Nothing passes while it is down.
  void set_down(bool down) { down_ = down; }

  /// So many segments that were let through found no memory to wait in.
  void count_overflow(std::size_t segments) { counters_.tail_dropped += segments; }
  void count_undelivered() { ++counters_.undelivered; }
  [[nodiscard]] const LinkCounters& counters() const { return counters_; }

 private:
  using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;

  [[nodiscard]] std::size_t fitting(const Shape& shape, TimePoint now) const;
  [[nodiscard]] std::size_t next_length(std::size_t left) const;
  void pass(const Shape& shape, std::size_t first, std::size_t count, std::vector<SegmentRun>& runs);
  void occupy(std::size_t wire_bytes) { busy_for_ += byte_time_ * static_cast<std::int64_t>(wire_bytes); }
  [[nodiscard]] TimePoint arrival() const;

  Random& random_;
  LinkSettings settings_;
  Picoseconds byte_time_{0};
  std::size_t longest_run_bytes_ = 0;
  Impairment loss_;
  Impairment reorder_;
  Impairment duplicate_;
  bool down_ = false;
  TimePoint busy_since_{};   // the link has been sending since then,
  Picoseconds busy_for_{0};  // and will have sent everything that long after it
  LinkCounters counters_;
};

}  // namespace udtcat::wan
