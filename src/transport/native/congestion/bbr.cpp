#include "transport/native/congestion/bbr.hpp"

#include <algorithm>
#include <chrono>

namespace udtcat::transport::native {

namespace {

using std::chrono_literals::operator""ms;

constexpr unsigned kOverwhelmedRounds = 2;  // guess: the first flight may just have been too much at once
constexpr unsigned kDrainRounds = 8;        // measured: what a probe leaves is gone after so many at a gain of 0.9
// What a receiver may hold back before it says anything. A window below that moves once in ten milliseconds.
constexpr Duration kAckInterval = 10ms;  // spec: draft-gg-udt §4.5, SYN
constexpr std::uint64_t kAckPackets =
    2 * 64;  // spec: UDT's light ACK comes after 64; twice that, so that some are on their way
constexpr double kStartupPacingGain = 2.77;             // spec: draft-ietf-ccwg-bbr, BBR.StartupPacingGain
constexpr double kDrainPacingGain = 0.5;                // spec: draft-ietf-ccwg-bbr, BBR.DrainPacingGain
constexpr double kDownPacingGain = 0.9;                 // spec: draft-ietf-ccwg-bbr, "ProbeBW_DOWN"
constexpr double kUpPacingGain = 1.25;                  // spec: draft-ietf-ccwg-bbr, "ProbeBW_UP"
constexpr double kPacingMargin = 0.99;                  // spec: draft-ietf-ccwg-bbr, BBR.PacingMarginPercent
constexpr double kWindowGain = 2;                       // spec: draft-ietf-ccwg-bbr, BBR.DefaultCwndGain
constexpr double kUpWindowGain = 2.25;                  // spec: draft-ietf-ccwg-bbr, "ProbeBW_UP"
constexpr double kProbeRttWindowGain = 0.5;             // spec: draft-ietf-ccwg-bbr, BBR.ProbeRTTCwndGain
constexpr Duration kProbeRttDuration = 200ms;           // spec: draft-ietf-ccwg-bbr, BBR.ProbeRTTDuration
constexpr Duration kQuantumTime = 1ms;                  // spec: draft-ietf-ccwg-bbr, "Send Quantum: BBR.send_quantum"
constexpr std::uint64_t kMostQuantumBytes = 64 * kKiB;  // spec: the same
constexpr std::uint64_t kQuantaInFlight = 3;            // spec: draft-ietf-ccwg-bbr, "BBR.offload_budget"
constexpr std::uint64_t kLeastWindowPackets = 4;        // spec: draft-ietf-ccwg-bbr, BBR.MinPipeCwnd
constexpr Duration kUnknownRtt = 1ms;                   // spec: draft-ietf-ccwg-bbr, "BBRInitPacingRate"

}  // namespace

Bbr::Bbr(std::size_t payload_bytes, TimePoint now, std::uint32_t random_seed)
    : payload_bytes_(payload_bytes),
      random_(random_seed),
      model_(payload_bytes),
      cycle_start_(now),
      window_bytes_(kInitialWindowPackets * payload_bytes),
      pacing_rate_(scaled(BitRate::from_bytes_per(window_bytes_, kUnknownRtt), kStartupPacingGain)) {}

void Bbr::on_sent(TimePoint now, std::uint64_t bytes, std::uint64_t in_flight_bytes) {
  if (in_flight_bytes + bytes + send_quantum_bytes() > window_bytes_) window_limited_ = true;
  if (in_flight_bytes != 0 || !app_limited_) return;
  idle_restart_ = true;
  model_.on_idle(now);
  // Into an empty pipe neither faster nor slower than it is known to be.
  if (probes()) pacing_rate_ = scaled(model_.sent_for(model_.bandwidth()), kPacingMargin);
}

void Bbr::on_ack(const AckEvent& ack) {
  if (timed_out_) resume(ack.now);
  app_limited_ = ack.app_limited;
  if (ack.rtt && !model_.min_rtt().value())
    pacing_rate_ = scaled(BitRate::from_bytes_per(window_bytes_, *ack.rtt), kStartupPacingGain);
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
  const bool queued = plateau_.rounds() > 0 && model_.queue_stands();
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

double Bbr::pacing_gain() const {
  switch (state_) {
    case State::startup:
      return kStartupPacingGain;
    case State::drain:
      return kDrainPacingGain;
    case State::probe_down:
      return kDownPacingGain;
    case State::probe_up:
      return kUpPacingGain;
    default:
      return 1.0;
  }
}

void Bbr::update_pacing() {
  const auto rate = scaled(model_.sent_for(model_.bandwidth()), pacing_gain() * kPacingMargin);
  // The first samples are of flights too small to fill the pipe.
  if (full_pipe_ || rate > pacing_rate_) pacing_rate_ = rate;
}

double Bbr::window_gain() const {
  switch (state_) {
    case State::probe_up:
      return kUpWindowGain;
    case State::probe_rtt:
      return kProbeRttWindowGain;
    default:
      return kWindowGain;
  }
}

std::uint64_t Bbr::least_window() const { return kLeastWindowPackets * payload_bytes_; }

// The least that congestion may leave of the window.
std::uint64_t Bbr::least_cap() const {
  const auto batch = std::min(bytes_during(model_.max_bandwidth(), kAckInterval), kAckPackets * payload_bytes_);
  // Between hosts that take longer than the way, what is in flight waits in the hosts.
  const auto in_hosts = model_.host_bound() ? scaled(model_.bdp_bytes(model_.max_bandwidth()), kWindowGain) : 0;
  return std::max({least_window(), batch, in_hosts});
}

std::uint64_t Bbr::send_quantum_bytes() const {
  return std::clamp<std::uint64_t>(bytes_during(pacing_rate_, kQuantumTime), 2 * payload_bytes_, kMostQuantumBytes);
}

// Room for trains on their way through both hosts comes on top where the product itself is small.
std::uint64_t Bbr::in_flight_for(double gain) const {
  const auto bytes = scaled(model_.bdp_bytes(model_.bandwidth()), gain);
  const auto most = std::max({bytes, kQuantaInFlight * send_quantum_bytes(), least_window()});
  return state_ == State::probe_up ? most + 2 * payload_bytes_ : most;
}

std::uint64_t Bbr::probe_rtt_window() const {
  return std::max(scaled(model_.bdp_bytes(model_.bandwidth()), kProbeRttWindowGain), least_window());
}

std::uint64_t Bbr::window_cap() const {
  // Headroom is for those who come new, and the heedless take it all.
  const bool headroom = (state_ == State::probe_cruise || state_ == State::probe_rtt) && !rivals_.heedless();
  auto cap = kUnbounded;
  if (headroom)
    cap = ceiling_.with_headroom();
  else if (probes())
    cap = ceiling_.bytes();
  cap = std::max(std::min(cap, model_.short_term_bytes()), least_cap());
  return state_ == State::probe_rtt ? std::min(cap, probe_rtt_window()) : cap;
}

void Bbr::update_window(const AckEvent& ack) {
  const auto most = in_flight_for(window_gain()) + model_.extra_acked_bytes();
  const auto grown = window_bytes_ + ack.newly_delivered_bytes;
  if (full_pipe_)
    window_bytes_ = std::min(grown, most);
  else if (window_bytes_ < most || ack.delivered_total_bytes < kInitialWindowPackets * payload_bytes_)
    window_bytes_ = grown;
  window_bytes_ = std::min(std::max(window_bytes_, least_window()), window_cap());
}

}  // namespace udtcat::transport::native
