/// Time in units of the path: round trips, and what each of them showed.
#pragma once

#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/congestion_control.hpp"

namespace udtcat::transport::native {

/// What was seen during one round trip.
struct RoundTrip {
  std::uint64_t delivered_bytes = 0;
  std::uint64_t lost_bytes = 0;
  std::optional<Duration> min_rtt;
  unsigned rtt_samples = 0;
  BitRate bandwidth;                  ///< the fastest sample
  std::uint64_t in_flight_bytes = 0;  ///< the most that one sample saw delivered: what the path held

  /// Part of what reached its end one way or the other.
  [[nodiscard]] double loss_rate() const;
};

/// A round trip ends when a packet that was sent after its beginning is acknowledged.
/// source: draft-ietf-ccwg-bbr, "BBR.round_count: Tracking Packet-Timed Round Trips"
/// Threads: unsynchronised.
class RoundTrips {
 public:
  /// Whether a new round trip begins with this ACK.
  [[nodiscard]] bool on_ack(const AckEvent& ack);
  void on_loss(std::uint64_t lost_bytes) { present_.lost_bytes += lost_bytes; }
  /// The next round trip begins with what is sent from now on.
  void restart() { end_delivered_bytes_ = delivered_bytes_; }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const RoundTrip& last() const { return last_; }
  /// So far.
  [[nodiscard]] const RoundTrip& present() const { return present_; }
  /// The least of the last round trip and the present one.
  [[nodiscard]] std::optional<Duration> recent_min_rtt() const;

 private:
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t end_delivered_bytes_ = 0;
  std::uint64_t count_ = 0;
  RoundTrip present_;
  RoundTrip last_;
};

}  // namespace udtcat::transport::native
