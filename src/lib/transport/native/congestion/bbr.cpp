#include "lib/transport/native/congestion/bbr.hpp"

#include <algorithm>
#include <chrono>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr unsigned kOverwhelmedRounds = 2;     // guess: the first flight may just have been too much at once
constexpr unsigned kDrainRounds = 8;           // measured: what a probe leaves is gone after so many at a gain of 0.9
constexpr Duration kProbeRttDuration = 200ms;  // spec: draft-ietf-ccwg-bbr, BBR.ProbeRTTDuration
constexpr Duration kUnknownRtt = 1ms;          // spec: draft-ietf-ccwg-bbr, "BBRInitPacingRate"

}  // namespace

Bbr::Bbr(std::size_t payload_bytes, TimePoint now, std::uint32_t random_seed, std::uint32_t ack_packets)
    : ack_packets_(ack_packets),
      payload_bytes_(payload_bytes),
      random_(random_seed),
      model_(payload_bytes),
      cycle_start_(now),
      window_bytes_(kInitialWindowPackets * payload_bytes),
      pacing_rate_(startup_pacing(kUnknownRtt)) {}

void Bbr::on_sent(TimePoint now, std::uint64_t bytes, std::uint64_t in_flight_bytes) {
  if (in_flight_bytes + bytes + send_quantum_bytes() > window_bytes_) window_limited_ = true;
  if (in_flight_bytes != 0 || !app_limited_) return;
  idle_restart_ = true;
  model_.on_idle(now);
  // Into an empty pipe neither faster nor slower than it is known to be.
  if (probes()) pacing_rate_ = paced(1.0);
}

void Bbr::on_ack(const AckEvent& ack) {
  if (timed_out_) resume(ack.now);
  app_limited_ = ack.app_limited;
  if (ack.rtt && !model_.min_rtt().value()) pacing_rate_ = startup_pacing(*ack.rtt);
  const bool round_start = model_.on_ack(ack, phase(), window_bytes_);
  if (round_start) on_round_trip();
  if (ack.rate) {
    check_full_pipe(*ack.rate, round_start);
    check_drained(ack);
    advance_cycle(ack, round_start);
  }
  check_probe_rtt(ack, round_start);
  idle_restart_ = false;
  update_pacing();
  update_window(ack);
}

void Bbr::on_loss(const LossEvent& event) { model_.on_loss(event.lost_bytes); }

// Little is sent into the silence, but nothing of the path is forgotten: the first word from the peer restores it all.
void Bbr::on_timeout(TimePoint) {
  if (!timed_out_ && state_ != State::probe_rtt) saved_window_bytes_ = window_bytes_;
  timed_out_ = true;
  window_bytes_ = least_window();
}

void Bbr::resume(TimePoint now) {
  timed_out_ = false;
  model_.on_silence(now);
  window_bytes_ = std::max(window_bytes_, saved_window_bytes_);
  cycle_start_ = now;
  // A probe that the silence cut short has shown nothing.
  if (state_ == State::probe_rtt) return leave_probe_rtt(now);
  if (probes()) start_cruise();
}

void Bbr::on_packet_size(std::size_t payload_bytes) {
  payload_bytes_ = payload_bytes;
  model_.on_packet_size(payload_bytes);
  window_bytes_ = std::max(window_bytes_, least_window());
}

void Bbr::on_round_trip() {
  ++rounds_since_probe_;
  was_window_limited_ = window_limited_;
  window_limited_ = false;
  if (state_ == State::probe_down || state_ == State::probe_cruise)
    rivals_.on_round_trip(model_.queue_overflowed(), drained());
}

// Whether nothing of our last probe can be in the queue any more.
bool Bbr::drained() const { return state_ == State::probe_cruise || rounds_since_probe_ >= kDrainRounds; }

BbrModel::Phase Bbr::phase() const {
  const bool draining = state_ == State::drain || (state_ == State::probe_down && !rivals_.share_queue() && !drained());
  const bool probing = state_ == State::startup || state_ == State::probe_refill || state_ == State::probe_up;
  return {.starting = !full_pipe_,
          .own_queue = probing || draining,
          .cruising = state_ == State::probe_cruise,
          .heedless_rivals = rivals_.heedless()};
}

bool Bbr::probes() const {
  return state_ == State::probe_down || state_ == State::probe_cruise || state_ == State::probe_refill ||
         state_ == State::probe_up;
}

void Bbr::check_full_pipe(const RateSample& sample, bool round_start) {
  plateau_.on_sample(sample, round_start);
  if (state_ != State::startup) return;
  if (round_start) overwhelmed_rounds_ = model_.overwhelmed() ? overwhelmed_rounds_ + 1 : 0;
  const bool overflowed = overwhelmed_rounds_ >= kOverwhelmedRounds;
  if (overflowed) ceiling_.set(std::max(model_.bdp_bytes(model_.max_bandwidth()), model_.last_round().in_flight_bytes));
  // A queue that grows while the rate does not is proof enough; two more round trips of it would be lost, and repaired for several more.
  const bool queued = plateau_.rounds() > 0 && model_.queue_builds();
  if (!overflowed && !queued && !plateau_.reached()) return;
  full_pipe_ = true;
  state_ = State::drain;
}

void Bbr::check_drained(const AckEvent& ack) {
  if (state_ == State::drain && ack.in_flight_bytes <= in_flight_for(1.0)) start_down(ack.now);
}

void Bbr::check_probe_rtt(const AckEvent& ack, bool round_start) {
  if (state_ != State::probe_rtt) {
    if (!model_.min_rtt().probe_due() || idle_restart_) return;
    state_ = State::probe_rtt;
    saved_window_bytes_ = window_bytes_;
    probe_rtt_end_.reset();
  }
  if (!probe_rtt_end_) {
    if (ack.in_flight_bytes > probe_rtt_window()) return;
    probe_rtt_end_ = ack.now + kProbeRttDuration;
    probe_rtt_round_done_ = false;
    return model_.restart_round();
  }
  probe_rtt_round_done_ = probe_rtt_round_done_ || round_start;
  if (probe_rtt_round_done_ && ack.now >= *probe_rtt_end_) leave_probe_rtt(ack.now);
}

void Bbr::leave_probe_rtt(TimePoint now) {
  if (!model_.queue_stands()) rivals_.on_empty_queue();
  model_.forget_short_term();
  window_bytes_ = std::max(window_bytes_, saved_window_bytes_);
  if (!full_pipe_) {
    state_ = State::startup;
    return;
  }
  start_down(now);
  start_cruise();
}

}  // namespace udtcat::transport::native
