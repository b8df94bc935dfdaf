#include "lib/transport/native/delivery_rate.hpp"

#include <algorithm>

namespace udtcat::transport::native {

DeliverySnapshot DeliveryRate::on_sent(TimePoint now, std::uint64_t in_flight_bytes, std::size_t bytes,
                                       std::uint64_t lost_bytes) {
  if (in_flight_bytes == 0) first_sent_at_ = delivered_at_ = now;
  return {delivered_bytes_, delivered_at_, first_sent_at_, in_flight_bytes + bytes, lost_bytes, app_limited()};
}

void DeliveryRate::on_delivered(TimePoint now, std::uint64_t total_bytes) {
  if (total_bytes <= delivered_bytes_) return;
  delivered_bytes_ = total_bytes;
  delivered_at_ = now;
  if (app_limited_until_ != 0 && delivered_bytes_ > app_limited_until_) app_limited_until_ = 0;
}

std::optional<RateSample> DeliveryRate::sample(TimePoint now, const SentPacket& newest, std::uint64_t lost_bytes) {
  first_sent_at_ = std::max(first_sent_at_, newest.sent_at);
  RateSample sample;
  sample.delivered_bytes = delivered_bytes_ - std::min(delivered_bytes_, newest.snapshot.delivered_bytes);
  sample.interval =
      std::max<Duration>(newest.sent_at - newest.snapshot.first_sent_at, now - newest.snapshot.delivered_at);
  sample.prior_delivered_bytes = newest.snapshot.delivered_bytes;
  sample.in_flight_at_send_bytes = newest.snapshot.in_flight_bytes;
  sample.lost_bytes = lost_bytes - std::min(lost_bytes, newest.snapshot.lost_bytes);
  sample.app_limited = newest.snapshot.app_limited;
  if (sample.delivered_bytes == 0 || sample.interval <= Duration::zero()) return std::nullopt;
  return sample;
}

}  // namespace udtcat::transport::native
