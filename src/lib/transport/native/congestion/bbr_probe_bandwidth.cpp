// The cycle of probes for bandwidth, of class Bbr.
#include <algorithm>
#include <chrono>

#include "lib/transport/native/congestion/bbr.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr double kBeta = 0.7;                   // spec: draft-ietf-ccwg-bbr, BBR.Beta
constexpr Duration kLeastProbeWait = 2s;        // spec: draft-ietf-ccwg-bbr, "BBRPickProbeWait"
constexpr unsigned kProbeWaitSpreadMs = 1000;   // spec: the same
constexpr std::uint64_t kMostProbeRounds = 63;  // spec: draft-ietf-ccwg-bbr, "BBRIsRenoCoexistenceProbeTime"
// Next to those who heed no loss we probe as often as they do, and are done as quickly.
constexpr unsigned kHeedlessCycleRounds = 8;  // spec: BBRv1's cycle
constexpr unsigned kHeedlessDownRounds = 2;   // guess: one to see the end of the probe, one to give back what it left
// Not sooner, however short the round trips are: the memory of the bandwidth is two cycles long, and must outlive a pause of a
// host. guess: a pause is some tens of milliseconds.
constexpr Duration kLeastCycle = 250ms;

}  // namespace

void Bbr::start_down(TimePoint now) {
  if (state_ == State::probe_up) rivals_.on_probe_end(model_.max_bandwidth(), model_.queue_stands());
  state_ = State::probe_down;
  probe_echoes_ = true;
  cycle_start_ = now;
  // Flows that began together shall not probe together.
  rounds_since_probe_ = static_cast<unsigned>(random_() % 2);
  probe_wait_ = kLeastProbeWait + std::chrono::milliseconds(random_() % kProbeWaitSpreadMs);
  model_.restart_round();
}

// Fills the pipe without a queue first, so that what the probe then loses is its own doing.
void Bbr::start_refill() {
  state_ = State::probe_refill;
  model_.forget_short_term();
  ceiling_.start_probe();
  model_.restart_round();
}

void Bbr::start_up(TimePoint now) {
  state_ = State::probe_up;
  cycle_start_ = now;
  ceiling_may_fall_ = true;
  plateau_.restart(model_.max_bandwidth());
  rivals_.on_probe_start(model_.max_bandwidth());
  ceiling_.steepen(window_bytes_, payload_bytes_);
  model_.restart_round();
}

void Bbr::advance_cycle(const AckEvent& ack, bool round_start) {
  if (!full_pipe_) return;
  adapt_ceiling(ack, round_start);
  switch (state_) {
    case State::probe_down:
      if (time_to_probe(ack.now)) return start_refill();
      if (time_to_cruise(ack.in_flight_bytes)) start_cruise();
      return;
    case State::probe_cruise:
      if (time_to_probe(ack.now)) start_refill();
      return;
    case State::probe_refill:
      if (round_start) start_up(ack.now);
      return;
    case State::probe_up:
      if (time_to_go_down(ack.now)) start_down(ack.now);
      return;
    default:
      return;
  }
}

void Bbr::adapt_ceiling(const AckEvent& ack, bool round_start) {
  if (probe_echoes_ && round_start) {
    probe_echoes_ = false;
    ceiling_may_fall_ = false;
    if (probes() && !ack.rate->app_limited) model_.end_bandwidth_cycle();
  }
  if (model_.in_flight_too_high(*ack.rate)) return lower_ceiling(ack);
  if (!ceiling_.bounded()) return;
  if (ack.rate->in_flight_at_send_bytes > ceiling_.bytes()) ceiling_.set(ack.rate->in_flight_at_send_bytes);
  if (state_ != State::probe_up || !window_limited() || window_bytes_ < ceiling_.bytes()) return;
  if (round_start) ceiling_.steepen(window_bytes_, payload_bytes_);
  ceiling_.raise(ack.newly_delivered_bytes, payload_bytes_);
}

void Bbr::lower_ceiling(const AckEvent& ack) {
  if (!ceiling_may_fall_) return;
  ceiling_may_fall_ = false;
  if (!ack.rate->app_limited)
    ceiling_.set(std::max(ack.rate->in_flight_at_send_bytes, scaled(model_.bdp_bytes(model_.bandwidth()), kBeta)));
  if (state_ == State::probe_up) start_down(ack.now);
}

bool Bbr::time_to_probe(TimePoint now) const {
  const auto waited = now - cycle_start_;
  if (waited >= probe_wait_ || (rivals_.heedless() && rounds_since_probe_ >= kHeedlessCycleRounds)) return true;
  // Reno needs as many round trips as it has packets in flight to grow by half; whoever shares the path with it probes as often.
  const auto reno_rounds = model_.bdp_bytes(model_.bandwidth()) / payload_bytes_;
  return waited >= kLeastCycle && rounds_since_probe_ >= std::min(reno_rounds, kMostProbeRounds);
}

bool Bbr::time_to_cruise(std::uint64_t in_flight_bytes) const {
  if (rivals_.heedless() && rounds_since_probe_ >= kHeedlessDownRounds) return true;
  return in_flight_bytes <= std::min(ceiling_.with_headroom(), in_flight_for(1.0));
}

bool Bbr::time_to_go_down(TimePoint now) {
  // Where a queue stands, more comes only from somebody else; a round trip of that is enough for who gives way.
  if (rivals_.heedful() && model_.queue_stands() && now >= cycle_start_ + *model_.min_rtt().value()) return true;
  // The ceiling, not the path, kept the rate from growing: it is not known yet whether the path would.
  if (window_limited() && window_bytes_ >= ceiling_.bytes()) plateau_.restart(model_.max_bandwidth());
  return plateau_.reached();
}

}  // namespace udtcat::transport::native
