// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/congestion_control.hpp"

#include <algorithm>
#include <chrono>

#include "lib/core/invariant.hpp"
#include "lib/transport/native/congestion/bbr.hpp"
#include "lib/transport/native/congestion/measures.hpp"
#include "lib/transport/native/congestion/udt_rate_law.hpp"

namespace udtcat::transport::native {

namespace {

/// A fixed rate, which loss does not change. The window is what leaves in two round trips: the rate alone decides, but
/// no more than that is sent into an outage.
/// Threads: unsynchronised; time is a parameter.
class FixedRate final : public CongestionControl {
 public:
  /// rate   unlimited: the peer's window alone decides
  FixedRate(std::size_t payload_bytes, BitRate rate) : payload_bytes_(payload_bytes), rate_(rate) {}

  void on_sent(TimePoint, std::uint64_t, std::uint64_t) override {}
  void on_ack(const AckEvent& event) override {
    if (event.rtt) rtt_.update(*event.rtt);
  }
  void on_loss(const LossEvent&) override {}
  void on_timeout(TimePoint) override {}
  void on_packet_size(std::size_t payload_bytes) override { payload_bytes_ = payload_bytes; }

  [[nodiscard]] std::uint64_t window_bytes() const override {
    if (rate_.unlimited()) return kUnbounded;
    const auto time = std::max(kRoundTrips * rtt_.value().value_or(Duration{0}), kLeastTime);
    return std::max<std::uint64_t>(bytes_during(rate_, time), kInitialWindowPackets * payload_bytes_);
  }
  [[nodiscard]] BitRate pacing_rate() const override { return rate_; }

 private:
  static constexpr unsigned kRoundTrips = 2;                              // guess: one to arrive, one to be sent again
  static constexpr Duration kLeastTime = std::chrono::milliseconds(100);  // guess: ten of a receiver's acknowledgements

  std::size_t payload_bytes_;
  const BitRate rate_;
  SmoothedRtt rtt_;
};

}  // namespace

std::unique_ptr<CongestionControl> make_congestion_control(const CongestionSettings& settings,
                                                           std::size_t payload_bytes, TimePoint now) {
  UDTCAT_INVARIANT(payload_bytes > 0, "a packet without payload carries nothing");
  switch (settings.kind) {
    case CongestionKind::bbr:
      return std::make_unique<Bbr>(payload_bytes, now, settings.random_seed, settings.ack_packets, settings.group);
    case CongestionKind::udt:
      return std::make_unique<UdtRateLaw>(payload_bytes, now, settings.random_seed);
    case CongestionKind::fixed:
      return std::make_unique<FixedRate>(payload_bytes, settings.cap);
  }
  UDTCAT_INVARIANT(false, "each kind has its case");
}

}  // namespace udtcat::transport::native
