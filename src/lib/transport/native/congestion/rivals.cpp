#include "lib/transport/native/congestion/rivals.hpp"

#include "lib/transport/native/congestion/rate_math.hpp"

namespace udtcat::transport::native {

namespace {

// All measured on a simulated 1 Gbit/s, 20 ms, with a buffer of half to two bandwidth-delay products, next to CUBIC, BBRv1 and
// another of us for a minute (tests/transport/native/congestion). Others around them give much the same.
constexpr double kHeedless = 0.07;  // measured: BBRv1 overflows the queue in every eighth round trip, CUBIC in hundreds
constexpr double kSmoothing = 1.0 / 64;   // measured: eight cycles of BBRv1
constexpr unsigned kQuietRounds = 500;    // measured: longer than CUBIC takes from one loss to the next
constexpr double kGainFromOthers = 1.04;  // measured: 1.02 to 1.07 make no difference; alone, it is below 1.01

}  // namespace

void Rivals::on_round_trip(bool overflow, bool drained) {
  quiet_rounds_ = overflow ? 0 : quiet_rounds_ + 1;
  overflowed_ = overflowed_ || overflow;
  if (drained || share_queue_ || heedless()) overflowing_ += kSmoothing * ((overflow ? 1.0 : 0.0) - overflowing_);
}

void Rivals::on_probe_end(BitRate bandwidth, bool queue_stands) {
  share_queue_ = queue_stands && bandwidth >= scaled(before_probe_, kGainFromOthers);
}

bool Rivals::heedless() const { return overflowing_ > kHeedless; }

bool Rivals::heedful() const { return overflowed_ && quiet_rounds_ < kQuietRounds && !heedless(); }

}  // namespace udtcat::transport::native
