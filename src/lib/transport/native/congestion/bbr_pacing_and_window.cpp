// SPDX-License-Identifier: Apache-2.0
// The rate and the window that follow from model and state.
#include <algorithm>
#include <chrono>

#include "lib/transport/native/congestion/bbr.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

// spec: twice the 64 after which UDT's light ACK comes, so that some are on their way.
constexpr std::uint64_t kAckPackets = 128;
constexpr double kPacingMargin = 0.99;     // spec: draft-ietf-ccwg-bbr, BBR.PacingMarginPercent
constexpr double kDrainPacingGain = 0.5;   // spec: draft-ietf-ccwg-bbr, BBR.DrainPacingGain
constexpr double kDownPacingGain = 0.9;    // spec: draft-ietf-ccwg-bbr, "ProbeBW_DOWN"
constexpr double kClearPacingGain = 0.75;  // spec: BBRv1's: what a probe of 1.25 has put there goes as fast
constexpr double kUpPacingGain = 1.25;     // spec: draft-ietf-ccwg-bbr, "ProbeBW_UP"
// Beside others a small flow asks for as many packets more as they do. measured: ADR-0059
constexpr double kUpPackets = 32;
constexpr double kMaxUpPacingGain = 1.5;               // guess: a flow of 64 packets then asks for those 32
constexpr double kUpWindowGain = 2.25;                 // spec: draft-ietf-ccwg-bbr, "ProbeBW_UP"
constexpr double kProbeRttWindowGain = 0.5;            // spec: draft-ietf-ccwg-bbr, BBR.ProbeRTTCwndGain
constexpr Duration kQuantumTime = 1ms;                 // spec: draft-ietf-ccwg-bbr, "Send Quantum: BBR.send_quantum"
constexpr std::uint64_t kMaxQuantumBytes = 64 * kKiB;  // spec: the same
constexpr std::uint64_t kQuantaInFlight = 3;           // spec: draft-ietf-ccwg-bbr, "BBR.offload_budget"
constexpr std::uint64_t kLeastWindowPackets = 4;       // spec: draft-ietf-ccwg-bbr, BBR.MinPipeCwnd
constexpr std::size_t kFirstPacePackets = 64;          // guess: ten leave within a seventeenth of a round trip
constexpr BitRate kSlowRate = BitRate::from_bits_per_second(1'200'000);  // spec: draft-ietf-ccwg-bbr, "Send Quantum"
constexpr Duration kBatchTime = 220ms;  // measured: libudt answers after 110 ms, whatever came
constexpr int kBatchRtts = 12;          // guess: a first flight of ten packets is a batch of 128

}  // namespace

double Bbr::up_gain() const {
  if (share() < 1) return kUpPacingGain;  // the rate has fallen because others of its group have their parts
  if (model_.rate_has_fallen() && !competing_.unresponsive()) return kRegainGain;
  if (!competing_.anybody()) return kUpPacingGain;
  const auto packets = std::max<std::uint64_t>(model_.bdp_bytes(model_.bandwidth()) / payload_bytes_, 1);
  return std::clamp(1 + kUpPackets / static_cast<double>(packets), kUpPacingGain, kMaxUpPacingGain);
}

double Bbr::pacing_gain() const {
  switch (state_) {
    case State::startup:
      return kStartupPacingGain;
    case State::drain:
      return kDrainPacingGain;
    case State::probe_down:
      if (model_.tries_slower()) return PathLoss::kTrialGain;
      return queue_is_ours() ? kClearPacingGain : kDownPacingGain;
    case State::probe_up:
      return up_gain();
    case State::probe_cruise:
      if (model_.tries_slower()) return PathLoss::kTrialGain;
      return queue_is_ours() ? kDownPacingGain : 1.0;
    default:
      return 1.0;
  }
}

BitRate Bbr::startup_pacing(Duration rtt) const {
  const auto bytes = std::max<std::uint64_t>(window_bytes_, kFirstPacePackets * payload_bytes_);
  return scaled(BitRate::from_bytes_per(bytes, rtt), kStartupPacingGain);
}

BitRate Bbr::paced(double gain) const { return scaled(model_.sent_for(bandwidth_to_pace()), gain * kPacingMargin); }

// The largest sample of two cycles may be of ACKs that came together. While a queue stands, its output rate is what the
// path carries: a higher pace would only make it longer.
BitRate Bbr::bandwidth_to_pace() const {
  const auto bandwidth = model_.bandwidth();
  if (!between_probes()) return bandwidth;
  const auto ours = scaled(bandwidth, share());
  if (app_limited_ || !queue_is_ours()) return ours;
  return std::clamp(model_.last_round().bandwidth, scaled(ours, kBeta), ours);
}

bool Bbr::queue_is_ours() const { return model_.queue_lingers() && !competing_.anybody(); }

void Bbr::update_pacing() {
  const auto rate = paced(pacing_gain());
  // The first samples are of flights too small to fill the pipe.
  if (full_pipe_ || rate > pacing_rate_) pacing_rate_ = rate;
  pacing_rate_ = std::max(pacing_rate_, jump_rate_);
}

double Bbr::window_gain() const {
  switch (state_) {
    case State::probe_up:
      return kUpWindowGain + up_gain() - kUpPacingGain;
    case State::probe_rtt:
      return kProbeRttWindowGain;
    default:
      return kWindowGain;
  }
}

// On a slow path a peer of ours acknowledges each packet: more in flight only waits in the queue.
bool Bbr::is_alone_on_slow_line() const {
  return ack_packets_ == 0 && full_pipe_ && !competing_.anybody() &&
         bytes_during(model_.max_bandwidth(), kSyn) < payload_bytes_;
}

std::uint64_t Bbr::least_window() const {
  if (!is_alone_on_slow_line()) return kLeastWindowPackets * payload_bytes_;
  // One packet on the wire, and those whose ACKs are on their way; whole packets.
  const auto bytes = scaled(model_.bdp_bytes(model_.max_bandwidth()) + payload_bytes_, kPacingMargin);
  return std::min((bytes + payload_bytes_ - 1) / payload_bytes_, kLeastWindowPackets) * payload_bytes_;
}

// A receiver that acknowledges each 64th packet acknowledges a smaller flight only by its timer. The window is twice
// such a batch, so that one is on its way while the other is acknowledged; at most twice what arrives while the timer
// runs.
std::uint64_t Bbr::least_flight() const {
  const auto least_rtt = model_.min_rtt().value().value_or(Duration::zero());
  const Duration time = full_pipe_ ? kBatchTime : std::max<Duration>(kBatchTime, kBatchRtts * least_rtt);
  const std::uint64_t batches = 2 * ack_packets_ * payload_bytes_;
  return std::max(least_window(), std::min(batches, bytes_during(model_.max_bandwidth(), time)));
}

// The least that congestion may leave of the window.
std::uint64_t Bbr::least_cap() const {
  const auto batch = std::min(bytes_during(model_.max_bandwidth(), kSyn), kAckPackets * payload_bytes_);
  // Where the hosts add more to the round trip than the path, packets in flight wait in the hosts.
  const auto in_hosts = model_.host_bound() ? scaled(model_.bdp_bytes(model_.max_bandwidth()), kWindowGain) : 0;
  return std::max({least_flight(), batch, in_hosts});
}

std::uint64_t Bbr::send_quantum_bytes() const {
  // On loopback two packets are more than a bandwidth-delay product.
  const std::uint64_t least_packets = pacing_rate_ < kSlowRate ? 1 : 2;
  return std::max(std::min(bytes_during(pacing_rate_, kQuantumTime), kMaxQuantumBytes), least_packets * payload_bytes_);
}

// Where the bandwidth-delay product is small, room for trains within both hosts is added.
std::uint64_t Bbr::in_flight_for(double gain) const {
  const auto bytes = scaled(model_.bdp_bytes(model_.bandwidth()), gain);
  const auto quanta = is_alone_on_slow_line() ? 0 : kQuantaInFlight * send_quantum_bytes();
  const auto most = std::max({bytes, quanta, least_flight()});
  return state_ == State::probe_up ? most + 2 * payload_bytes_ : most;
}

std::uint64_t Bbr::probe_rtt_window() const {
  return std::max(scaled(model_.bdp_bytes(model_.bandwidth()), kProbeRttWindowGain), least_flight());
}

std::uint64_t Bbr::window_cap() const {
  // Headroom is for new flows; unresponsive ones would take all of it.
  const bool headroom = (state_ == State::probe_cruise || state_ == State::probe_rtt) && !competing_.unresponsive();
  auto cap = kUnbounded;
  if (headroom) {
    cap = ceiling_.with_headroom(competing_.anybody());
    // A flow that is alone keeps its bandwidth-delay product: no other would use the headroom.
    if (!competing_.anybody()) cap = std::max(cap, model_.bdp_bytes(model_.bandwidth()));
  } else if (probes()) {
    cap = ceiling_.bytes();
  }
  cap = std::max(std::min(cap, model_.short_term_bytes()), least_cap());
  return state_ == State::probe_rtt ? std::min(cap, probe_rtt_window()) : cap;
}

void Bbr::update_window(const AckEvent& ack) {
  const auto most = std::max(in_flight_for(window_gain()) + (is_alone_on_slow_line() ? 0 : model_.extra_acked_bytes()),
                             model_.bdp_bytes(jump_rate_));
  const auto grown = window_bytes_ + ack.newly_delivered_bytes;
  if (full_pipe_)
    window_bytes_ = std::min(grown, most);
  else
    window_bytes_ = std::max(window_bytes_ < most ? grown : window_bytes_, most);
  window_bytes_ = std::min(std::max(window_bytes_, least_window()), window_cap());
  if (!model_.tries_slower())
    window_before_trial_ = window_bytes_;
  else if (state_ != State::probe_rtt)
    window_bytes_ = std::max(std::min(window_bytes_, scaled(window_before_trial_, PathLoss::kTrialGain)), least_cap());
}

}  // namespace udtcat::transport::native
