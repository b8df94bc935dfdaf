// SPDX-License-Identifier: Apache-2.0
/// The measures of every congestion control: rates, times and bytes; maxima that forget; round trips.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

inline constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

inline constexpr std::size_t kInitialWindowPackets = 10;  // spec: RFC 6928

inline constexpr std::uint64_t kFewLostPackets = 4;  // guess: of a small flight, single losses are a large share

inline constexpr double kBeta = 0.7;  // spec: draft-ietf-ccwg-bbr, BBR.Beta

inline constexpr double kStartupPacingGain = 2.77;  // spec: draft-ietf-ccwg-bbr, BBR.StartupPacingGain

[[nodiscard]] constexpr double seconds_of(Duration time) { return std::chrono::duration<double>(time).count(); }

[[nodiscard]] constexpr Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// factor   times a bound that may be kUnbounded, which it then stays
[[nodiscard]] constexpr std::uint64_t scaled(std::uint64_t bytes, double factor) {
  const double product = static_cast<double>(bytes) * factor;
  return product >= static_cast<double>(kUnbounded) ? kUnbounded : static_cast<std::uint64_t>(product);
}

[[nodiscard]] constexpr BitRate scaled(BitRate rate, double factor) {
  return BitRate::from_bits_per_second(scaled(rate.bits_per_second(), factor));
}

[[nodiscard]] constexpr std::uint64_t bytes_during(BitRate rate, Duration time) {
  return scaled(rate.bytes_per_second(), seconds_of(time));
}

/// The largest value of two consecutive periods: the present one and the one before it.
/// source: draft-ietf-ccwg-bbr, "BBR.MaxBwFilter" (a filter of two probing cycles)
/// Threads: unsynchronised.
template <typename Value>
class RecentMax {
 public:
  void update(Value value) { present_ = std::max(present_, value); }

  /// Begins a new period. One without a value does not end.
  void advance() {
    if (present_ == Value{}) return;
    previous_ = present_;
    present_ = Value{};
  }

  void scale(double factor) {
    previous_ = scaled(previous_, factor);
    present_ = scaled(present_, factor);
  }

  [[nodiscard]] Value value() const { return std::max(previous_, present_); }
  /// Values of before count as `value` at most.
  void lower(Value value) {
    previous_ = std::min(previous_, value);
    present_ = std::min(present_, value);
  }

 private:
  Value previous_{};
  Value present_{};
};

/// The smoothed round trip.
/// source: RFC 6298 §2 (SRTT)
/// Threads: unsynchronised.
class SmoothedRtt {
 public:
  void update(Duration rtt) { value_ = value_ ? (*value_ * 7 + rtt) / 8 : rtt; }
  [[nodiscard]] std::optional<Duration> value() const { return value_; }

 private:
  std::optional<Duration> value_;
};

/// The sums of one round trip.
struct RoundTrip {
  std::uint64_t delivered_bytes = 0;
  std::uint64_t lost_bytes = 0;
  std::uint64_t lost_runs = 0;  ///< see LossEvent
  std::optional<Duration> min_rtt;
  unsigned rtt_samples = 0;
  BitRate bandwidth;                  ///< the fastest sample
  std::uint64_t in_flight_bytes = 0;  ///< the most that one sample saw delivered: what the path held
  bool host_overloaded = false;       ///< see AckEvent
  bool long_trains = false;           ///< see LossEvent
  Duration time{0};                   ///< from its beginning to its end

  /// Lost bytes as a part of those that were delivered or lost.
  [[nodiscard]] double loss_rate() const;
  /// The mean.
  [[nodiscard]] BitRate delivered_rate() const;
};

/// A round trip ends when a packet that was sent after its beginning is acknowledged.
/// source: draft-ietf-ccwg-bbr, "BBR.round_count: Tracking Packet-Timed Round Trips"
/// Threads: unsynchronised.
class RoundTrips {
 public:
  /// Whether a new round trip begins with this ACK.
  [[nodiscard]] bool on_ack(const AckEvent& ack);
  void on_loss(const LossEvent& event) {
    present_.lost_bytes += event.lost_bytes;
    present_.lost_runs += event.runs;
    present_.long_trains |= event.of_long_trains;
  }
  /// The next round trip begins with what is sent from now on.
  void restart() { end_delivered_bytes_ = delivered_bytes_; }

  /// After a silence, whose losses do not count: the next round trip begins as if it were the first.
  void forget() {
    present_ = last_ = RoundTrip{};
    began_ = TimePoint{};
    restart();
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const RoundTrip& last() const { return last_; }
  /// The present one, so far.
  [[nodiscard]] const RoundTrip& present() const { return present_; }
  /// The least of the last round trip and the present one.
  [[nodiscard]] std::optional<Duration> recent_min_rtt() const;

 private:
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t end_delivered_bytes_ = 0;
  std::uint64_t count_ = 0;
  TimePoint began_{};
  RoundTrip present_;
  RoundTrip last_;
};

}  // namespace udtcat::transport::native
