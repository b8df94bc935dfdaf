// SPDX-License-Identifier: Apache-2.0
/// The receiver's loss list: which packets are missing, since when, and when to ask for them (again).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lib/transport/native/sequence.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Waits a little before it calls a gap a loss, as long as packets have lately been late; asks again when no answer
/// came.
/// Bounded: its user adds none while it is full(). No call costs more than what it adds, fills or gives.
/// Threads: unsynchronised; time is a parameter.
class HoleList {
 public:
  struct Range {
    PacketIndex first;
    PacketIndex last;
  };

  [[nodiscard]] bool full() const { return holes_.size() >= kMaxHoles; }
  /// [first, last] was skipped by a packet that its sender stamped `timestamp_us`.
  void add(TimePoint now, PacketIndex first, PacketIndex last, std::uint32_t timestamp_us);
  /// A missing packet came. One sent before the packet that revealed the gap was not lost but late: tolerance grows.
  void fill(TimePoint now, PacketIndex index, std::uint32_t timestamp_us);

  [[nodiscard]] bool empty() const { return holes_.empty(); }
  /// When take_due() has something to say.
  [[nodiscard]] std::optional<TimePoint> deadline() const;
  /// Ranges to ask for now, those that waited longest, at most `most`; ascending.
  /// repeat_after   how long an answer may take
  [[nodiscard]] std::vector<Range> take_due(TimePoint now, std::size_t most, Duration repeat_after);

  /// Packets that were not lost but late.
  [[nodiscard]] std::uint64_t late() const { return late_; }
  /// How long a gap may stay before it is called a loss.
  [[nodiscard]] Duration tolerance() const;
  void on_rtt(Duration smoothed) { rtt_ = smoothed; }

 private:
  struct Hole {
    PacketIndex last;
    TimePoint found;
    TimePoint due;
    std::uint32_t revealed_by_us;
    std::uint32_t asked = 0;
  };
  using Holes = std::map<PacketIndex, Hole>;        // by first missing packet
  static constexpr std::size_t kMaxHoles = 16'384;  // guess: 10 Gbit/s at 100 ms with every fifth packet lost

  void insert(PacketIndex first, const Hole& hole);
  void on_late(Duration lateness);

  Holes holes_;
  std::set<std::pair<TimePoint, PacketIndex>> by_due_;  // each hole, by when it is due and its first packet
  Duration rtt_ = std::chrono::milliseconds(100);
  Duration lateness_{0};  // learned
  std::uint64_t late_ = 0;
};

}  // namespace udtcat::transport::native
