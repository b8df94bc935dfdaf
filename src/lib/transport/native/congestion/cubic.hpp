/// The window of most other senders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/hystart.hpp"
#include "lib/transport/native/congestion/round_trips.hpp"
#include "lib/transport/native/congestion/smoothed_rtt.hpp"

namespace udtcat::transport::native {

/// CUBIC with HyStart++, paced. Windows are counted in packets, as the equations are.
/// source: RFC 9438
/// Threads: unsynchronised; time is a parameter.
class Cubic final : public CongestionControl {
 public:
  explicit Cubic(std::size_t payload_bytes);

  void on_sent(TimePoint now, std::uint64_t bytes, std::uint64_t in_flight_bytes) override;
  void on_ack(const AckEvent& event) override;
  void on_loss(const LossEvent& event) override;
  void on_timeout(TimePoint now) override;
  void on_packet_size(std::size_t payload_bytes) override;

  [[nodiscard]] std::uint64_t window_bytes() const override;
  [[nodiscard]] BitRate pacing_rate() const override;

 private:
  /// Congestion avoidance since the last reduction (RFC 9438 §4.1.2).
  struct Epoch {
    TimePoint start;
    double plateau_seconds = 0;  // K: from the start until the window is where it was
    double reno_packets = 0;     // W_est
    double reno_growth = 0;      // alpha
  };

  [[nodiscard]] bool in_slow_start() const;
  void reduce();
  void begin_epoch(TimePoint now);
  void grow(TimePoint now, double delivered_packets);
  [[nodiscard]] double cubic_packets(double seconds) const;

  std::size_t payload_bytes_;
  double window_packets_;
  double threshold_packets_;             // ssthresh
  double most_packets_ = 0;              // W_max
  double before_reduction_packets_ = 0;  // cwnd_prior
  std::optional<Epoch> epoch_;
  HyStart hystart_;
  RoundTrips rounds_;
  SmoothedRtt rtt_;
  bool window_limited_ = true;  // since the last ACK
  bool timed_out_ = false;      // and nothing heard since
};

}  // namespace udtcat::transport::native
