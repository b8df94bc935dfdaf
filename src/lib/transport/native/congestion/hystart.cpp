#include "lib/transport/native/congestion/hystart.hpp"

#include <algorithm>
#include <chrono>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

// A round trip here has a sample for each batch of acknowledgements, not for each packet: the eight samples that RFC 9406 waits
// for might not come. The rest is its §4.3.
constexpr Duration kLeastGrowth = 4ms;     // spec: RFC 9406 §4.3, MIN_RTT_THRESH
constexpr Duration kMostRttGrowth = 16ms;  // spec: RFC 9406 §4.3, MAX_RTT_THRESH
constexpr int kGrowthDivisor = 8;          // spec: RFC 9406 §4.3, MIN_RTT_DIVISOR
constexpr double kCarefulGrowth = 0.25;    // spec: RFC 9406 §4.3, 1 / CSS_GROWTH_DIVISOR
constexpr unsigned kCarefulRounds = 5;     // spec: RFC 9406 §4.3, CSS_ROUNDS

}  // namespace

double HyStart::growth() const {
  switch (phase_) {
    case Phase::exponential:
      return 1;
    case Phase::careful:
      return kCarefulGrowth;
    case Phase::done:
      return 0;
  }
  return 0;
}

void HyStart::on_round_trip(std::optional<Duration> min_rtt) {
  if (!min_rtt) return;
  if (phase_ == Phase::careful) {
    if (*min_rtt < baseline_)
      phase_ = Phase::exponential;
    else if (++careful_rounds_ >= kCarefulRounds)
      phase_ = Phase::done;
  } else if (phase_ == Phase::exponential && last_min_rtt_) {
    const auto growth = std::clamp<Duration>(*last_min_rtt_ / kGrowthDivisor, kLeastGrowth, kMostRttGrowth);
    if (*min_rtt >= *last_min_rtt_ + growth) {
      phase_ = Phase::careful;
      careful_rounds_ = 0;
      baseline_ = *min_rtt;
    }
  }
  last_min_rtt_ = min_rtt;
}

}  // namespace udtcat::transport::native
