// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/bbr.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr unsigned kEchoRounds = 3;            // guess: two until all of a probe is acknowledged, and a random one
constexpr unsigned kDrainRounds = 8;           // measured: what a probe leaves is gone after so many at a gain of 0.9
constexpr Duration kProbeRttDuration = 200ms;  // spec: draft-ietf-ccwg-bbr, BBR.ProbeRTTDuration
constexpr int kDoubtfulRounds = 8;             // guess: so that it costs a flow no more than an eighth of its rate
// measured: with 7 s a flow is starved beside BBRv1; at ten the minimum expires
constexpr Duration kLongUnconfirmed = 8'500ms;
constexpr Duration kLeastProbeRttGap = 3s;  // guess: the queue of other flows need not be drained more often
// Where all flows stop at once a round trip is enough, and costs less. guess: two ACKs of a receiver
constexpr Duration kLeastProbeRttDuration = 20ms;
constexpr Duration kUnknownRtt = 1ms;  // spec: draft-ietf-ccwg-bbr, "BBRInitPacingRate"

constexpr double kFilledPath = 1.5;  // guess: ACKs that come late add less to a flight

constexpr double kJumpShare = 0.5;  // spec: RFC 9959: at most half of what was saved
constexpr int kRttTolerance = 2;    // guess: RFC 9959 takes a tenfold round trip for the same path, too
constexpr double kBorneOut = 0.9;   // guess: samples scatter by some percent
constexpr double kLossOfJump =
    0.1;  // guess: a first flight at a remembered rate that loses so much shows a slower path
constexpr unsigned kMaxJumpRounds = 6;                   // guess: the credit of a session has opened by then
constexpr std::uint64_t kWorthKnowingBytes = 64 * kKiB;  // guess: more than a first flight

constexpr Duration kLeastProbeWait = 2s;       // spec: draft-ietf-ccwg-bbr, "BBRPickProbeWait"
constexpr unsigned kProbeWaitSpreadMs = 1000;  // spec: the same
constexpr std::uint64_t kMaxProbeRounds = 63;  // spec: draft-ietf-ccwg-bbr, "BBRIsRenoCoexistenceProbeTime"
// Next to unresponsive flows, or where the rate varies, we probe as often as BBRv1.
constexpr unsigned kShortCycleRounds = 8;  // spec: BBRv1's cycle
constexpr unsigned kUnresponsiveDownRounds =
    2;  // guess: one to see the end of the probe, one to give back what it left
// Not sooner, however short the round trips are: the memory of the bandwidth is two cycles long, and must outlive a
// pause of a host. guess: a pause is some tens of milliseconds.
constexpr Duration kLeastCycle = 250ms;

}  // namespace

Bbr::Bbr(std::size_t payload_bytes, TimePoint now, std::uint32_t random_seed, std::uint32_t ack_packets,
         std::shared_ptr<FlowGroup> group)
    : ack_packets_(ack_packets),
      payload_bytes_(payload_bytes),
      random_(random_seed),
      model_(payload_bytes),
      first_flight_(payload_bytes),
      cycle_start_(now),
      window_bytes_(kInitialWindowPackets * payload_bytes),
      pacing_rate_(startup_pacing(kUnknownRtt)) {
  if (group) group_.emplace(std::move(group));
}

void Bbr::on_sent(TimePoint now, std::uint64_t bytes, std::uint64_t in_flight_bytes) {
  if (in_flight_bytes + bytes + send_quantum_bytes() > window_bytes_) window_limited_ = true;
  if (in_flight_bytes != 0 || !app_limited_) return;
  idle_restart_ = true;
  model_.on_idle(now);
  // After idle time: at the rate that the path is known to carry.
  if (probes()) pacing_rate_ = paced(1.0);
}

void Bbr::on_ack(const AckEvent& event) {
  AckEvent ack = event;
  if (fills_path(ack)) ack.app_limited = ack.rate->app_limited = false;
  if (timed_out_) end_timeout(ack.now);
  app_limited_ = ack.app_limited;
  delivered_bytes_ = ack.delivered_total_bytes;
  if (ack.rtt && !model_.min_rtt().value()) {
    pacing_rate_ = startup_pacing(*ack.rtt);
    begin_jump(*ack.rtt);
  }
  const bool round_start = model_.on_ack(ack, phase(), window_bytes_);
  if (round_start) on_round_trip(ack.now);
  if (ack.rate) {
    check_jump(ack, round_start);
    check_full_pipe(ack, round_start);
    check_drained(ack);
    advance_cycle(ack, round_start);
  }
  check_probe_rtt(ack, round_start);
  tell_group(ack);
  idle_restart_ = false;
  update_pacing();
  update_window(ack);
  if (const auto second = first_flight_.on_ack(ack); second && state_ == State::startup) {
    window_bytes_ = std::max(window_bytes_, second->window_bytes);
    pacing_rate_ = std::max(pacing_rate_, second->pacing_rate);
  }
}

// Whether the path limits this flow, although nothing waits to be sent at some moments: what it holds, and more, is in
// flight, and a queue stands. Several flows of one writer seldom have something waiting all the time.
bool Bbr::fills_path(const AckEvent& ack) const {
  return ack.rate && ack.rate->app_limited && model_.queue_stands() &&
         ack.rate->in_flight_at_send_bytes >= scaled(model_.bdp_bytes(model_.bandwidth()), kFilledPath);
}

void Bbr::tell_group(const AckEvent& ack) {
  if (!group_ || !model_.min_rtt().value()) return;
  const bool limited = full_pipe_ && ack.rate && !ack.rate->app_limited && !model_.host_bound();
  const bool probes_up = state_ == State::probe_refill || state_ == State::probe_up;
  const bool starts = state_ == State::drain || (!full_pipe_ && !app_limited_);
  group_->on_ack({.now = ack.now,
                  .newly_delivered_bytes = ack.newly_delivered_bytes,
                  .least_rtt = *model_.min_rtt().value(),
                  .bandwidth = limited ? model_.bandwidth() : BitRate(),
                  .queued = model_.queue_lingers(),
                  .probing = starts || probes_up || (state_ == State::probe_down && !drained())});
}

void Bbr::on_loss(const LossEvent& event) { model_.on_loss(event); }

// A timeout: little is sent, but the model is kept, and the first ACK restores the window.
void Bbr::on_timeout(TimePoint) {
  // Silence ends a jump: the rate is what was delivered before.
  if (std::exchange(jump_rate_, BitRate()) != BitRate())
    window_bytes_ = std::min(window_bytes_, in_flight_for(kWindowGain));
  if (!timed_out_ && state_ != State::probe_rtt) saved_window_bytes_ = window_bytes_;
  timed_out_ = true;
  if (group_) group_->on_timeout();
  window_bytes_ = least_window();
}

void Bbr::end_timeout(TimePoint now) {
  timed_out_ = false;
  model_.on_silence(now);
  window_bytes_ = std::max(window_bytes_, saved_window_bytes_);
  cycle_start_ = now;
  // Round trips of a few packets, or of a probe that the silence cut short, show nothing.
  plateau_.restart(model_.max_bandwidth());
  if (state_ == State::probe_rtt) return leave_probe_rtt(now);
  if (probes()) start_cruise();
}

void Bbr::on_packet_size(std::size_t payload_bytes) {
  payload_bytes_ = payload_bytes;
  model_.on_packet_size(payload_bytes);
  window_bytes_ = std::max(window_bytes_, least_window());
}

void Bbr::on_round_trip(TimePoint now) {
  ++rounds_since_probe_;
  was_window_limited_ = window_limited_;
  window_limited_ = false;
  if (!between_probes()) return;
  const bool nobody_probes = drained() && (!group_ || !group_->others_probe(now));
  competing_.on_round_trip(model_.queue_overflowed(), nobody_probes);
  if (model_.queue_overflowed() && nobody_probes && !competing_.unresponsive())
    ceiling_.yield(scaled(model_.bdp_bytes(model_.bandwidth()), kBeta));
}

// Whether the queue that the last probe left must be gone.
bool Bbr::drained() const { return state_ == State::probe_cruise || rounds_since_probe_ >= kDrainRounds; }

BbrModel::Phase Bbr::phase() const {
  const bool probing = state_ == State::startup || state_ == State::probe_refill || state_ == State::probe_up;
  // Losses of the probe are found while cruising, too.
  const bool cruise_hears = state_ == State::probe_cruise && rounds_since_probe_ < kEchoRounds;
  const bool probe_queue = cruise_hears || (state_ == State::probe_down && !drained());
  const bool own_queue = probing || state_ == State::drain || (probe_queue && !competing_.share_queue());
  return {.starting = !full_pipe_,
          .own_queue = own_queue,
          .probing = probing,
          .draining = state_ == State::drain,
          .steady = between_probes() && rounds_since_probe_ >= kEchoRounds,
          .unresponsive_flows = competing_.unresponsive()};
}

bool Bbr::between_probes() const { return state_ == State::probe_down || state_ == State::probe_cruise; }

bool Bbr::probes() const { return between_probes() || state_ == State::probe_refill || state_ == State::probe_up; }

void Bbr::begin_jump(Duration rtt) {
  // Another path: nothing is known of it.
  if (known_ && (rtt < known_->rtt / kRttTolerance || rtt > known_->rtt * kRttTolerance)) known_.reset();
  if (known_) jump_rate_ = scaled(known_->rate, kJumpShare);
}

// Delivery shows whether the path carries the rate of the jump: congestion, or a whole flight that was delivered more
// slowly, ends the startup at the delivered rate. A flight that was limited by the writer or the peer shows nothing.
void Bbr::check_jump(const AckEvent& ack, bool round_start) {
  if (jump_rate_.unlimited()) return;
  const bool borne_out = model_.max_bandwidth() >= scaled(jump_rate_, kBorneOut);
  const RoundTrip& round = model_.last_round();
  const bool too_much = round_start && !round.long_trains && round.loss_rate() > kLossOfJump;
  const bool congested = ack.host_overloaded || too_much || model_.queue_builds();
  const bool too_slow = ack.rate->in_flight_at_send_bytes >= scaled(model_.bdp_bytes(jump_rate_), kBorneOut);
  if (congested || (too_slow && !borne_out)) return end_startup();
  if (round_start) ++jump_rounds_;
  if (!borne_out && jump_rounds_ < kMaxJumpRounds) return;
  jump_rate_ = BitRate();
  if (borne_out) return;
  window_bytes_ = std::min(window_bytes_, std::max(in_flight_for(kWindowGain), kInitialWindowPackets * payload_bytes_));
  pacing_rate_ = std::max(paced(pacing_gain()), startup_pacing(*model_.min_rtt().value()));
}

void Bbr::end_startup() {
  jump_rate_ = BitRate();
  full_pipe_ = true;
  if (state_ == State::startup) state_ = State::drain;
}

std::optional<KnownPath> Bbr::known_path() const {
  const auto rtt = model_.min_rtt().value();
  if (!rtt || model_.max_bandwidth().unlimited() || delivered_bytes_ < kWorthKnowingBytes) return std::nullopt;
  // Too little was sent to say that the remembered rate was wrong.
  if (known_ && !full_pipe_ && model_.max_bandwidth() < known_->rate) return std::nullopt;
  return KnownPath{.rate = model_.max_bandwidth(), .rtt = std::chrono::duration_cast<std::chrono::microseconds>(*rtt)};
}

void Bbr::check_full_pipe(const AckEvent& ack, bool round_start) {
  plateau_.on_sample(*ack.rate, round_start);
  if (state_ != State::startup) return;
  // Less may be random loss, in spite of which a faster pace delivers more.
  const bool overflowed = model_.loses_hopelessly(round_start ? model_.last_round() : model_.present_round());
  if (overflowed && model_.queue_stands())
    ceiling_.set(std::max(model_.bdp_bytes(model_.max_bandwidth()), model_.last_round().in_flight_bytes));
  // The queue grows and the rate does not: the pipe is full. Two more round trips would overflow it, and the lost
  // packets would be sent again for several more.
  const bool queued = (plateau_.rounds() > 0 || model_.startup_stalls()) && model_.queue_builds();
  if (!overflowed && !queued && !ack.host_overloaded && !plateau_.reached()) return;
  end_startup();
}

void Bbr::check_drained(const AckEvent& ack) {
  if (state_ == State::drain && ack.in_flight_bytes <= in_flight_for(1.0)) start_down(ack.now);
}

bool Bbr::time_to_probe_rtt(TimePoint now) {
  // A flow with unexplained loss stops together with the others: only then is the queue empty.
  const bool rested = model_.min_rtt().value() && now >= probe_rtt_end_ + kDoubtfulRounds * *model_.min_rtt().value();
  const bool doubtful = model_.wants_rtt() || (rested && !model_.doubts_loss() && model_.loses_unexplained());
  const bool common = probe_rtt_schedule_.due(now, model_.min_rtt().unconfirmed(now), doubtful);
  // Other hosts stop at other moments: before the minimum expires this flow stops alone, and for longer.
  const bool alone = model_.min_rtt().unconfirmed(now) >= kLongUnconfirmed && now >= probe_rtt_end_ + kLeastProbeRttGap;
  return full_pipe_ ? common || alone : model_.min_rtt().probe_due();
}

void Bbr::check_probe_rtt(const AckEvent& ack, bool round_start) {
  if (state_ != State::probe_rtt) {
    const bool longer = model_.path_seems_longer() && ack.now >= probe_rtt_end_ + kLeastProbeRttGap;
    if ((!time_to_probe_rtt(ack.now) && !longer) || idle_restart_) return;
    probe_rtt_schedule_.on_begin(model_.queue_stands());
    state_ = State::probe_rtt;
    saved_window_bytes_ = window_bytes_;
    probe_rtt_wait_.reset();
  }
  if (!probe_rtt_wait_) {
    if (ack.in_flight_bytes > probe_rtt_window()) return;
    const bool alone = model_.min_rtt().unconfirmed(ack.now) >= kLongUnconfirmed;
    const auto least = alone ? kProbeRttDuration : kLeastProbeRttDuration;
    const auto hold = std::clamp<Duration>(*model_.min_rtt().value(), least, kProbeRttDuration);
    probe_rtt_wait_ = ProbeRttWait{.until = ack.now + hold};
    return model_.restart_round();
  }
  probe_rtt_wait_->round_trip_passed |= round_start;
  if (probe_rtt_wait_->round_trip_passed && ack.now >= probe_rtt_wait_->until) leave_probe_rtt(ack.now);
}

void Bbr::leave_probe_rtt(TimePoint now) {
  probe_rtt_schedule_.on_end(model_.queue_stands());
  // Each flow gives back a part of its rate, and each gains the same by a probe: so shares become even.
  if (probe_rtt_schedule_.queue_was_ours()) model_.give_back();
  if (!model_.queue_stands()) competing_.on_empty_queue();
  if (probe_rtt_wait_ && !competing_.anybody() && model_.path_seems_longer()) model_.accept_rtt(now);
  probe_rtt_end_ = now;
  model_.on_rtt_probed(now);
  if (!model_.doubts_loss()) model_.forget_short_term();
  window_bytes_ = std::max(window_bytes_, saved_window_bytes_);
  if (!full_pipe_) {
    state_ = State::startup;
    return;
  }
  start_down(now);
  start_cruise();
}

// ---- The cycle of probes for bandwidth ---------------------------------------------------------------------------

void Bbr::start_down(TimePoint now) {
  if (state_ == State::probe_up) {
    model_.on_probe_end();
    competing_.on_probe_end(model_.max_bandwidth(), model_.queue_stands());
  }
  if (state_ == State::drain) model_.on_startup_drained();
  // ProbeRTT gives no bandwidth sample, and ends no period of the filter, unless losses may be those of flows like this
  // one: else none of them would learn that its share is less.
  const bool overloads = model_.loses_unexplained() && rounds_since_probe_ >= kShortCycleRounds;
  probe_echoes_ = state_ != State::probe_rtt || overloads || competing_.anybody();
  ceiling_may_fall_ = ceiling_may_fall_ && probe_echoes_;
  state_ = State::probe_down;
  cycle_start_ = now;
  // Random: flows that began together must not probe together.
  rounds_since_probe_ = static_cast<unsigned>(random_() % 2);
  probe_wait_ = kLeastProbeWait + std::chrono::milliseconds(random_() % kProbeWaitSpreadMs);
  model_.restart_round();
}

// Fills the pipe without a queue first: losses of the probe are then its own.
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
  competing_.on_probe_start(model_.max_bandwidth());
  model_.on_probe_start();
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
  if (ack.host_overloaded || model_.in_flight_too_high(*ack.rate)) return lower_ceiling(ack);
  if (!ceiling_.bounded()) return;
  if (ack.rate->in_flight_at_send_bytes > ceiling_.bytes()) ceiling_.set(ack.rate->in_flight_at_send_bytes);
  if (state_ != State::probe_up || !window_limited() || window_bytes_ < ceiling_.bytes()) return;
  // The ceiling was found when the path was slower, and there is no queue: it doubles with each round trip.
  if (round_start && model_.rate_has_fallen() && !model_.queue_lingers())
    return ceiling_.set(scaled(ceiling_.bytes(), kRegainGain));
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

// Whether the next probe comes early: the rate has changed lately, and not because of other flows or losses.
bool Bbr::probes_early() const {
  if (share() < 1) return false;  // the rate varies with the others of its group
  const bool others = competing_.responsive() || competing_.unresponsive();
  return model_.rate_varies() && !model_.loses_unexplained() &&
         (!others || (model_.rate_has_fallen() && !model_.queue_lingers()));
}

bool Bbr::time_to_probe(TimePoint now) const {
  if (model_.doubts_loss()) return false;
  const auto waited = now - cycle_start_;
  const bool short_cycle = competing_.unresponsive() || (probes_early() && waited >= kLeastCycle);
  if (waited >= probe_wait_ || (short_cycle && rounds_since_probe_ >= kShortCycleRounds)) return true;
  // Reno needs as many round trips as it has packets in flight to grow by half; a flow beside it probes as often.
  const auto reno_rounds = model_.bdp_bytes(model_.bandwidth()) / payload_bytes_;
  return waited >= kLeastCycle && rounds_since_probe_ >= std::min(reno_rounds, kMaxProbeRounds);
}

bool Bbr::time_to_cruise(std::uint64_t in_flight_bytes) const {
  if (competing_.unresponsive() && rounds_since_probe_ >= kUnresponsiveDownRounds) return true;
  return in_flight_bytes <= std::min(ceiling_.with_headroom(competing_.anybody()), in_flight_for(1.0));
}

bool Bbr::time_to_go_down(TimePoint now) {
  // Where a queue stands a probe gains only from other flows; of flows that give way a round trip gains enough.
  if (competing_.responsive() && model_.queue_stands() && now >= cycle_start_ + *model_.min_rtt().value()) return true;
  // The ceiling kept the rate from growing: whether the path carries more is not known yet.
  if (window_limited() && window_bytes_ >= ceiling_.bytes()) plateau_.restart(model_.max_bandwidth());
  // While the rate varies the next probe comes soon: two more round trips of this one would only add to the queue.
  if (model_.rate_varies() && plateau_.rounds() > 0 && model_.queue_builds()) return true;
  return plateau_.reached();
}

}  // namespace udtcat::transport::native
