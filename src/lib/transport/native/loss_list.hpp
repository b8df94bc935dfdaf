// SPDX-License-Identifier: Apache-2.0
/// The receiver's loss list: which packets are missing, since when, and when the next NAK names them.
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

/// A gap is taken for a loss after a tolerance for reordering, which follows how late packets have been. A NAK that
/// brought no retransmission is repeated.
/// Bounded: its user adds none while it is full(). A call costs as much as it adds, fills or gives.
/// Threads: unsynchronised; time is a parameter.
class LossList {
 public:
  struct Range {
    PacketIndex first;
    PacketIndex last;
  };

  [[nodiscard]] bool full() const { return gaps_.size() >= kMaxGaps; }
  /// When a gap that was named is named again.
  struct Backoff {
    Duration after;             ///< times the number of those so far, up to a limit
    Duration prompt{0};         ///< after which the first come
    std::uint32_t prompts = 0;  ///< how many of those there are
  };

  /// A packet sent at `timestamp_us` came before those in [first, last].
  void add(TimePoint now, PacketIndex first, PacketIndex last, std::uint32_t timestamp_us);
  /// A missing packet came. Where it was sent before the packet that revealed the gap it was not lost but late: the
  /// tolerance grows.
  void fill(TimePoint now, PacketIndex index, std::uint32_t timestamp_us);

  [[nodiscard]] bool empty() const { return gaps_.empty(); }
  /// When take_due() gives something.
  [[nodiscard]] std::optional<TimePoint> deadline() const;
  /// Of the gaps that are due, the one that has waited longest was named before.
  [[nodiscard]] bool repeats(TimePoint now) const;
  /// The ranges that a NAK is to name now, at most `most`, those first that have waited longest; ascending.
  [[nodiscard]] std::vector<Range> take_due(TimePoint now, std::size_t most, const Backoff& backoff);

  /// Packets that were not lost but late.
  [[nodiscard]] std::uint64_t late() const { return late_; }
  /// How long a gap stays before it is taken for a loss.
  [[nodiscard]] Duration tolerance() const;
  void on_rtt(Duration smoothed) { rtt_ = smoothed; }

 private:
  struct Gap {
    PacketIndex last;
    TimePoint found;
    TimePoint due;
    std::uint32_t revealed_by_us;
    std::uint32_t asked = 0;  // how often, up to a limit
  };
  using Gaps = std::map<PacketIndex, Gap>;         // by first missing packet
  static constexpr std::size_t kMaxGaps = 16'384;  // guess: 10 Gbit/s at 100 ms with every fifth packet lost

  void insert(PacketIndex first, const Gap& gap);
  void on_late(Duration lateness);

  Gaps gaps_;
  std::set<std::pair<TimePoint, PacketIndex>> by_due_;  // each gap, by when a NAK is to name it
  Duration rtt_ = std::chrono::milliseconds(100);
  Duration lateness_{0};  // of packets lately
  std::uint64_t late_ = 0;
};

}  // namespace udtcat::transport::native
