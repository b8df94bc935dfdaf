// SPDX-License-Identifier: Apache-2.0
/// Delivery rate samples: how fast the path delivered while a packet was on its way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Where the connection stood when a packet left: the start of a delivery rate sample.
struct DeliverySnapshot {
  std::uint64_t delivered_bytes = 0;
  std::uint64_t timely_bytes = 0;  ///< of these, those that no gap had held up
  TimePoint delivered_at{};
  TimePoint first_sent_at{};
  std::uint64_t in_flight_bytes = 0;
  std::uint64_t lost_bytes = 0;
  bool app_limited = false;
};

/// Threads: unsynchronised; time is a parameter.
class DeliveryRate {
 public:
  /// A packet leaves: what to remember with it.
  /// in_flight_bytes   before it
  [[nodiscard]] DeliverySnapshot on_sent(TimePoint now, std::uint64_t in_flight_bytes, std::size_t bytes) {
    if (in_flight_bytes == 0) first_sent_at_ = delivered_at_ = now;
    return {delivered_bytes_,
            timely_bytes_,
            delivered_at_,
            first_sent_at_,
            in_flight_bytes + bytes,
            lost_bytes_,
            app_limited() || peer_limited_until_ != 0};
  }
  /// An ACK came. The total never goes back: an old ACK changes nothing.
  /// had_waited   for a repair: what the ACK tells of came before, and counts for no rate
  void on_delivered(TimePoint now, std::uint64_t total_bytes, bool had_waited = false) {
    if (total_bytes <= delivered_bytes_) return;
    if (!had_waited) timely_bytes_ += total_bytes - delivered_bytes_;
    delivered_bytes_ = total_bytes;
    delivered_at_ = now;
    if (app_limited_until_ != 0 && delivered_bytes_ > app_limited_until_) app_limited_until_ = 0;
    if (peer_limited_until_ != 0 && delivered_bytes_ > peer_limited_until_) peer_limited_until_ = 0;
  }
  /// After on_delivered(): the sample that the newest packet known to have arrived gives. None if nothing was delivered
  /// since it left.
  [[nodiscard]] std::optional<RateSample> sample(TimePoint now, TimePoint sent_at, const DeliverySnapshot& then) {
    first_sent_at_ = std::max(first_sent_at_, sent_at);
    RateSample sample;
    sample.delivered_bytes = timely_bytes_ - then.timely_bytes;
    sample.interval = std::max<Duration>(sent_at - then.first_sent_at, now - then.delivered_at);
    sample.prior_delivered_bytes = then.delivered_bytes;
    sample.in_flight_at_send_bytes = then.in_flight_bytes;
    sample.lost_bytes = lost_bytes_ - then.lost_bytes;
    sample.app_limited = then.app_limited;
    if (sample.delivered_bytes == 0 || sample.interval <= Duration::zero()) return std::nullopt;
    return sample;
  }
  void on_lost(std::size_t bytes) { lost_bytes_ += bytes; }
  /// The writer has nothing more: what is sent until now says little about the path.
  void on_app_limited(std::uint64_t in_flight_bytes) {
    app_limited_until_ = std::max<std::uint64_t>(delivered_bytes_ + in_flight_bytes, 1);
  }
  /// The peer's window or our memory is full, as what waits for a repair may fill it: samples are as limited. But
  /// app_limited() is not for that, as there is more to send, and losses and queues are told apart as ever.
  void on_peer_limited(std::uint64_t in_flight_bytes) {
    peer_limited_until_ = std::max<std::uint64_t>(delivered_bytes_ + in_flight_bytes, 1);
  }
  [[nodiscard]] bool app_limited() const { return app_limited_until_ != 0; }
  [[nodiscard]] std::uint64_t delivered_bytes() const { return delivered_bytes_; }

 private:
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t timely_bytes_ = 0;  // of those
  TimePoint delivered_at_{};
  TimePoint first_sent_at_{};
  std::uint64_t lost_bytes_ = 0;
  std::uint64_t app_limited_until_ = 0;   // delivered_bytes_ that ends it; 0: not limited
  std::uint64_t peer_limited_until_ = 0;  // likewise
};

}  // namespace udtcat::transport::native
