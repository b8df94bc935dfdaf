// SPDX-License-Identifier: Apache-2.0
/// Detects that a path has become much slower, before the queue that this causes has drained.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

/// Where the rate falls to a tenth, the flight becomes a queue of ten round trips, and samples of a round trip show the
/// fall when the queue has drained. So delivery is measured over a short time, too: less than half of what the path
/// carried, delivered evenly while the round trip grows, is what it carries now. A pause of a radio or a host is no
/// fall: nothing is delivered, and then all at once. Nor is a longer path: its round trip grows at once, and stays.
/// Threads: unsynchronised; time is a parameter.
class RateDrop {
 public:
  /// carried   the rate that the path is thought to carry
  /// queued    this ACK's round trip is at least twice the minimum
  /// returns   the rate that it carries now, once that is less than half
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
  /// After a silence, or where less is sent: the count begins anew.
  void restart() {
    begin_.reset();
    longest_gap_ = Duration::zero();
    acks_ = 0;
  }

 private:
  static constexpr double kMuchLess = 0.5;  // guess: a smaller fall may be the share of other flows
  static constexpr int kEnoughAcks = 8;     // guess: of fewer ACKs a late one is a large part
  static constexpr int kEvenParts = 3;      // guess: no gap between ACKs is a third of the time
  static constexpr int kGrowingPart = 4;    // guess: of the round trip; at half the rate a half is added
  static constexpr int kRoundTrips = 2;     // guess: one may be that of a burst
  static constexpr Duration kLeastTime = std::chrono::milliseconds(50);  // guess: five ACK intervals of a receiver

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
