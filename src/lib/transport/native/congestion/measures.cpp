// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

namespace {

void note_rtt(RoundTrip& round, Duration rtt) {
  round.min_rtt = std::min(round.min_rtt.value_or(rtt), rtt);
  ++round.rtt_samples;
}

void note_rate(RoundTrip& round, const RateSample& rate) {
  round.bandwidth = std::max(round.bandwidth, BitRate::from_bytes_per(rate.delivered_bytes, rate.interval));
  round.in_flight_bytes = std::max(round.in_flight_bytes, rate.delivered_bytes);
}

}  // namespace

double RoundTrip::loss_rate() const {
  if (lost_bytes == 0) return 0;
  return static_cast<double>(lost_bytes) / static_cast<double>(lost_bytes + delivered_bytes);
}

BitRate RoundTrip::delivered_rate() const {
  return time > Duration::zero() ? BitRate::from_bytes_per(delivered_bytes, time) : bandwidth;
}

bool RoundTrips::on_ack(const AckEvent& ack) {
  delivered_bytes_ = ack.delivered_total_bytes;
  present_.delivered_bytes += ack.newly_delivered_bytes;
  present_.host_overloaded |= ack.host_overloaded;
  if (ack.rtt) note_rtt(present_, *ack.rtt);
  present_.time = began_ == TimePoint{} ? Duration::zero() : ack.now - began_;
  if (!ack.rate) return false;
  note_rate(present_, *ack.rate);
  if (ack.rate->prior_delivered_bytes < end_delivered_bytes_) return false;
  restart();
  ++count_;
  began_ = ack.now;
  last_ = present_;
  present_ = RoundTrip{};
  // The sample that ends a round trip is the first of the next, which would else have none until its second ACK.
  note_rate(present_, *ack.rate);
  return true;
}

std::optional<Duration> RoundTrips::recent_min_rtt() const {
  if (!present_.min_rtt || !last_.min_rtt) return present_.min_rtt ? present_.min_rtt : last_.min_rtt;
  return std::min(*present_.min_rtt, *last_.min_rtt);
}

}  // namespace udtcat::transport::native
