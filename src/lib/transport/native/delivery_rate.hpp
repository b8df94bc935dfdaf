/// Delivery rate samples.  source: draft-ietf-ccwg-bbr, "Delivery Rate Samples"
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/sent_packet.hpp"

namespace udtcat::transport::native {

/// Threads: unsynchronised; time is a parameter.
class DeliveryRate {
 public:
  /// A packet leaves: what to remember with it.
  /// in_flight_bytes   before it
  [[nodiscard]] DeliverySnapshot on_sent(TimePoint now, std::uint64_t in_flight_bytes, std::size_t bytes,
                                         std::uint64_t lost_bytes);
  /// An ACK came. The total never goes back: an old ACK changes nothing.
  void on_delivered(TimePoint now, std::uint64_t total_bytes);
  /// After on_delivered(): the sample that the newest packet known to have arrived gives. None if nothing was delivered since it left.
  [[nodiscard]] std::optional<RateSample> sample(TimePoint now, const SentPacket& newest, std::uint64_t lost_bytes);
  /// The writer has nothing more: what is sent until now says little about the path.
  void on_app_limited(std::uint64_t in_flight_bytes) {
    app_limited_until_ = std::max<std::uint64_t>(delivered_bytes_ + in_flight_bytes, 1);
  }
  [[nodiscard]] bool app_limited() const { return app_limited_until_ != 0; }
  [[nodiscard]] std::uint64_t delivered_bytes() const { return delivered_bytes_; }

 private:
  std::uint64_t delivered_bytes_ = 0;
  TimePoint delivered_at_{};
  TimePoint first_sent_at_{};
  std::uint64_t app_limited_until_ = 0;  // delivered_bytes_ that ends it; 0: not limited
};

}  // namespace udtcat::transport::native
