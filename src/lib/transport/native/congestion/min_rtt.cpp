#include "lib/transport/native/congestion/min_rtt.hpp"

#include <algorithm>
#include <chrono>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr Duration kProbeInterval = 5s;  // spec: draft-ietf-ccwg-bbr, BBR.ProbeRTTInterval
constexpr Duration kLifetime = 10s;      // spec: draft-ietf-ccwg-bbr, BBR.MinRTTFilterLen
constexpr Duration kMostSlack = 1ms;     // guess: a queue of a millisecond is worth no measurement
constexpr Duration kLeastSlack = 300us;  // measured: timers of virtual machines are 50 to 300 us late

// How far above the minimum a sample may be and still confirm it.
Duration slack(Duration least) { return std::clamp<Duration>(least / 16, kLeastSlack, kMostSlack); }

}  // namespace

void MinRtt::Least::offer(TimePoint now, Duration rtt) {
  if (!value || rtt < *value) value = rtt;
  if (rtt <= *value + slack(*value)) stamp = now;
}

void MinRtt::update(TimePoint now, Duration rtt) {
  probe_due_ = recent_.expired(now, kProbeInterval);
  if (probe_due_) recent_.value.reset();
  recent_.offer(now, rtt);
  if (least_.expired(now, kLifetime)) least_ = recent_;
  least_.offer(now, rtt);
}

void MinRtt::confirm(TimePoint now) {
  recent_.stamp = now;
  least_.stamp = now;
  probe_due_ = false;
}

}  // namespace udtcat::transport::native
