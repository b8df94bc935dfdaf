// SPDX-License-Identifier: Apache-2.0
/// How much of a round trip the ACK waited on its way back.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// The peer says when a packet came, by a clock of its own: the way there is longer than it ever was by the queue on
/// it, whatever the two clocks say. The rest of what a round trip has beyond the least is the way back, which is no
/// reason to send less.
/// Threads: unsynchronised; time is a parameter.
class BackDelay {
 public:
  /// sent_us, arrived_us   of one packet, by the clocks of its two ends
  /// rtt                   of that packet
  void on_ack(TimePoint now, std::uint32_t sent_us, std::uint32_t arrived_us, Duration rtt, Duration least_rtt) {
    const std::uint32_t way = arrived_us - sent_us;
    if (!least_way_us_) {
      least_way_us_ = way;
      crept_at_ = now;
    }
    const auto crept = (now - crept_at_) / kDriftPart;
    if (crept >= std::chrono::microseconds(1)) {
      *least_way_us_ += static_cast<std::uint32_t>(crept / std::chrono::microseconds(1));
      crept_at_ = now;
    }
    auto queue_us = static_cast<std::int32_t>(way - *least_way_us_);
    if (queue_us < 0) {
      least_way_us_ = way;
      queue_us = 0;
    }
    const Duration beyond = rtt - least_rtt - std::chrono::microseconds(queue_us);
    value_ = std::clamp(beyond, Duration::zero(), kMost);
  }

  /// Of the latest ACK.
  [[nodiscard]] Duration value() const { return value_; }

 private:
  static constexpr int kDriftPart = 10'000;  // guess: two clocks differ by no more than a ten-thousandth
  static constexpr Duration kMost = std::chrono::seconds(1);  // guess: a longer queue of ACKs is an outage

  std::optional<std::uint32_t> least_way_us_;  // the difference of the clocks included
  TimePoint crept_at_{};
  Duration value_{0};
};

}  // namespace udtcat::transport::native
