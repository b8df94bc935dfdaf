// SPDX-License-Identifier: Apache-2.0
/// A connection's events for its congestion control, put together by hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "lib/transport/native/congestion/congestion_control.hpp"

namespace udtcat::transport::native::test {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

inline constexpr std::size_t kPayload = 1000;

[[nodiscard]] constexpr TimePoint at(Duration since_start) { return TimePoint{} + since_start; }
[[nodiscard]] constexpr BitRate mbit(std::uint64_t rate) { return BitRate::from_bits_per_second(rate * 1'000'000); }

/// A connection without a network: each call is one round trip, with one ACK for all that was in flight.
class Rounds {
 public:
  explicit Rounds(CongestionControl& control, Duration rtt = 100ms) : control_(control), rtt_(rtt) {}

  /// delivered   by the end of the round trip, at that rate
  void deliver(BitRate rate, std::uint64_t lost_bytes = 0, bool app_limited = false) {
    const auto bytes = rate.bytes_per_second() * static_cast<std::uint64_t>(rtt_.count()) / 1'000'000'000;
    now_ += rtt_;
    if (lost_bytes > 0) lose(lost_bytes);
    const auto prior = delivered_;
    delivered_ += bytes;
    AckEvent ack{.now = now_};
    ack.newly_delivered_bytes = bytes;
    ack.delivered_total_bytes = delivered_;
    ack.in_flight_bytes = in_flight_;
    ack.rtt = rtt_;
    ack.rate = RateSample{.delivered_bytes = bytes,
                          .interval = rtt_,
                          .prior_delivered_bytes = prior,
                          .in_flight_at_send_bytes = bytes + lost_bytes,
                          .lost_bytes = lost_bytes,
                          .app_limited = app_limited};
    ack.app_limited = app_limited;
    if (change_) change_(ack);
    control_.on_ack(ack);
    use_window();
  }
  void lose(std::uint64_t bytes, bool new_epoch = true) {
    LossEvent loss{.now = now_, .lost_bytes = bytes, .new_epoch = new_epoch};
    control_.on_loss(loss);
  }
  /// Sends until the window is full, as far as the control can see.
  void use_window() { control_.on_sent(now_, kPayload, control_.window_bytes() - kPayload); }
  void set_rtt(Duration rtt) { rtt_ = rtt; }
  void set_in_flight(std::uint64_t bytes) { in_flight_ = bytes; }
  void change_acks(std::function<void(AckEvent&)> change) { change_ = std::move(change); }
  void pass(Duration time) { now_ += time; }
  [[nodiscard]] TimePoint now() const { return now_; }

 private:
  CongestionControl& control_;
  Duration rtt_;
  TimePoint now_{};
  std::uint64_t delivered_ = 0;
  std::uint64_t in_flight_ = 0;  // after each ACK
  std::function<void(AckEvent&)> change_;
};

}  // namespace udtcat::transport::native::test
