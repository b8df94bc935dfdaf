#include "lib/transport/native/congestion/ack_aggregation.hpp"

#include <algorithm>
#include <chrono>

#include "lib/transport/native/congestion/rate_math.hpp"

namespace udtcat::transport::native {

namespace {

constexpr unsigned kPeriodRounds =
    5;  // spec: draft-ietf-ccwg-bbr, BBR.ExtraAckedFilterLen is ten, of which this is half
// spec: Linux's BBRv3, bbr_extra_acked_max_us. The draft has no such limit; a rate estimated too low would then feed itself.
constexpr Duration kMostTime = std::chrono::milliseconds(100);

}  // namespace

void AckAggregation::on_ack(TimePoint now, std::uint64_t newly_delivered_bytes, BitRate bandwidth,
                            std::uint64_t window_bytes) {
  auto expected_bytes = bytes_during(bandwidth, now - interval_start_);
  if (interval_delivered_bytes_ <= expected_bytes) {
    restart(now);
    expected_bytes = 0;
  }
  interval_delivered_bytes_ += newly_delivered_bytes;
  const auto extra_bytes = interval_delivered_bytes_ - std::min(interval_delivered_bytes_, expected_bytes);
  extra_.update(std::min({extra_bytes, window_bytes, bytes_during(bandwidth, kMostTime)}));
}

void AckAggregation::on_round_trip(bool starting) {
  // While the rate doubles with each round trip, what was extra in the last is ordinary in the next.
  if (++rounds_ < kPeriodRounds && !starting) return;
  rounds_ = 0;
  extra_.advance();
}

void AckAggregation::restart(TimePoint now) {
  interval_start_ = now;
  interval_delivered_bytes_ = 0;
}

}  // namespace udtcat::transport::native
