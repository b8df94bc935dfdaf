// SPDX-License-Identifier: Apache-2.0
/// Sees that a path has become much slower before the queue that this makes has gone by.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

/// Where the rate falls to a tenth, what is in flight is a queue of ten round trips, and a model that learns once a
/// round trip learns of it when the queue has gone by. So deliveries are counted over a short time, too: half of what
/// the path carried, come evenly and out of a queue that grows, is what it carries now. A pause of a radio or a host is
/// no fall: nothing comes, and then all at once. Nor is a path that became longer: its round trip jumps, and stays.
/// Threads: unsynchronised; time is a parameter.
class RateFall {
 public:
  /// carried   what the path is thought to carry
  /// queued    this ACK's round trip shows a queue, as long as the way at least
  /// returns   what it carries now, once it is less than half of that
  [[nodiscard]] std::optional<BitRate> on_ack(const AckEvent& ack, BitRate carried, Duration min_rtt, bool queued) {
    const bool even = queued && ack.rtt && !ack.app_limited && !ack.host_overloaded;
    if (!even || !begin_) {
      restart();
      if (even) begin_ = last_ = Mark{ack.now, ack.delivered_total_bytes, *ack.rtt};
      return std::nullopt;
    }
    longest_gap_ = std::max(longest_gap_, ack.now - last_->at);
    last_ = Mark{ack.now, ack.delivered_total_bytes, *ack.rtt};
    ++acks_;
    const Duration time = ack.now - begin_->at;
    if (acks_ < kEnoughAcks || time < std::max<Duration>(kRoundTrips * min_rtt, kLeastTime)) return std::nullopt;
    const auto rate = BitRate::from_bytes_per(ack.delivered_total_bytes - begin_->delivered_bytes, time);
    const bool growing = kGrowingPart * (last_->rtt - begin_->rtt) >= time;
    const bool fallen = growing && rate < scaled(carried, kMuchLess) && kEvenParts * longest_gap_ < time;
    restart();
    return fallen ? std::optional(rate) : std::nullopt;
  }
  /// Nothing came for a while, or less is sent: what was counted says nothing.
  void restart() {
    begin_.reset();
    longest_gap_ = Duration::zero();
    acks_ = 0;
  }

 private:
  static constexpr double kMuchLess = 0.5;                               // guess: less often is a share of others
  static constexpr int kEnoughAcks = 8;                                  // guess: of fewer one late ACK is much
  static constexpr int kEvenParts = 3;                                   // guess: no gap is a third of the time
  static constexpr int kGrowingPart = 4;                                 // guess: at half the rate a half is added
  static constexpr int kRoundTrips = 2;                                  // guess: one may be a burst's
  static constexpr Duration kLeastTime = std::chrono::milliseconds(50);  // guess: five of a receiver's intervals

  struct Mark {
    TimePoint at;
    std::uint64_t delivered_bytes;
    Duration rtt;
  };
  std::optional<Mark> begin_;
  std::optional<Mark> last_;
  Duration longest_gap_{0};
  int acks_ = 0;
};

}  // namespace udtcat::transport::native
