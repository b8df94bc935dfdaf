// SPDX-License-Identifier: Apache-2.0
/// How long the latest ACK has waited in a queue on the reverse path.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A round trip above the minimum has a queue on the forward path, on the reverse path, or on both. The peer reports
/// when a packet arrived, by its own clock: arrival less sending time, above the least such difference, is the queue on
/// the forward path, whatever the offset of the two clocks. The rest is the reverse path's, and no reason to send less.
/// Threads: unsynchronised; time is a parameter.
class ReversePathDelay {
 public:
  /// sent_us, arrived_us   of one packet, each by the clock of that end
  /// rtt, least_rtt        of that packet; of all
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
  static constexpr int kDriftPart = 10'000;  // guess: one clock gains a ten-thousandth on the other at most
  static constexpr Duration kMost = std::chrono::seconds(1);  // guess: a longer queue of ACKs is an outage

  std::optional<std::uint32_t> least_way_us_;  // arrival less sending time, the offset of the clocks included
  TimePoint crept_at_{};
  Duration value_{0};
};

}  // namespace udtcat::transport::native
