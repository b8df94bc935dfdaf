/// A rate that somebody else decided on.
#pragma once

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/smoothed_rtt.hpp"

namespace udtcat::transport::native {

/// Loss changes nothing. The window is what leaves during two round trips: enough that only the rate decides, and an end to
/// what a path that swallows everything is sent.
/// Threads: unsynchronised; time is a parameter.
class FixedRate final : public CongestionControl {
 public:
  /// rate   unlimited: the peer's window alone decides
  FixedRate(std::size_t payload_bytes, BitRate rate) : payload_bytes_(payload_bytes), rate_(rate) {}

  void on_sent(TimePoint, std::uint64_t, std::uint64_t) override {}
  void on_ack(const AckEvent& event) override;
  void on_loss(const LossEvent&) override {}
  void on_timeout(TimePoint) override {}
  void on_packet_size(std::size_t payload_bytes) override { payload_bytes_ = payload_bytes; }

  [[nodiscard]] std::uint64_t window_bytes() const override;
  [[nodiscard]] BitRate pacing_rate() const override { return rate_; }

 private:
  std::size_t payload_bytes_;
  const BitRate rate_;
  SmoothedRtt rtt_;
};

}  // namespace udtcat::transport::native
