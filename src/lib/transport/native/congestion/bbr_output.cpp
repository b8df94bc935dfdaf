// What follows from model and state, of class Bbr: the rate and the window.
#include <algorithm>
#include <chrono>

#include "lib/transport/native/congestion/bbr.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

// What a receiver may hold back before it says anything. A window below that moves once in ten milliseconds.
constexpr Duration kAckInterval = 10ms;  // spec: draft-gg-udt, "SYN"
// spec: twice the 64 after which UDT's light ACK comes, so that some are on their way.
constexpr std::uint64_t kAckPackets = 128;
constexpr double kStartupPacingGain = 2.77;             // spec: draft-ietf-ccwg-bbr, BBR.StartupPacingGain
constexpr double kPacingMargin = 0.99;                  // spec: draft-ietf-ccwg-bbr, BBR.PacingMarginPercent
constexpr double kDrainPacingGain = 0.5;                // spec: draft-ietf-ccwg-bbr, BBR.DrainPacingGain
constexpr double kDownPacingGain = 0.9;                 // spec: draft-ietf-ccwg-bbr, "ProbeBW_DOWN"
constexpr double kUpPacingGain = 1.25;                  // spec: draft-ietf-ccwg-bbr, "ProbeBW_UP"
constexpr double kWindowGain = 2;                       // spec: draft-ietf-ccwg-bbr, BBR.DefaultCwndGain
constexpr double kUpWindowGain = 2.25;                  // spec: draft-ietf-ccwg-bbr, "ProbeBW_UP"
constexpr double kProbeRttWindowGain = 0.5;             // spec: draft-ietf-ccwg-bbr, BBR.ProbeRTTCwndGain
constexpr Duration kQuantumTime = 1ms;                  // spec: draft-ietf-ccwg-bbr, "Send Quantum: BBR.send_quantum"
constexpr std::uint64_t kMostQuantumBytes = 64 * kKiB;  // spec: the same
constexpr std::uint64_t kQuantaInFlight = 3;            // spec: draft-ietf-ccwg-bbr, "BBR.offload_budget"
constexpr std::uint64_t kLeastWindowPackets = 4;        // spec: draft-ietf-ccwg-bbr, BBR.MinPipeCwnd

}  // namespace

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

BitRate Bbr::startup_pacing(Duration rtt) const {
  return scaled(BitRate::from_bytes_per(window_bytes_, rtt), kStartupPacingGain);
}

BitRate Bbr::paced(double gain) const { return scaled(model_.sent_for(model_.bandwidth()), gain * kPacingMargin); }

void Bbr::update_pacing() {
  const auto rate = paced(pacing_gain());
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

// A receiver that waits for a batch leaves whoever sends less than that to its timer, however short the way is. Twice the batch, so
// that one is on its way while the other is answered.
std::uint64_t Bbr::least_flight() const { return std::max(least_window(), 2 * ack_packets_ * payload_bytes_); }

// The least that congestion may leave of the window.
std::uint64_t Bbr::least_cap() const {
  const auto batch = std::min(bytes_during(model_.max_bandwidth(), kAckInterval), kAckPackets * payload_bytes_);
  // Between hosts that take longer than the way, what is in flight waits in the hosts.
  const auto in_hosts = model_.host_bound() ? scaled(model_.bdp_bytes(model_.max_bandwidth()), kWindowGain) : 0;
  return std::max({least_flight(), batch, in_hosts});
}

std::uint64_t Bbr::send_quantum_bytes() const {
  // On loopback two packets are more than that.
  return std::max<std::uint64_t>(std::min(bytes_during(pacing_rate_, kQuantumTime), kMostQuantumBytes),
                                 2 * payload_bytes_);
}

// Room for trains on their way through both hosts comes on top where the product itself is small.
std::uint64_t Bbr::in_flight_for(double gain) const {
  const auto bytes = scaled(model_.bdp_bytes(model_.bandwidth()), gain);
  const auto most = std::max({bytes, kQuantaInFlight * send_quantum_bytes(), least_flight()});
  return state_ == State::probe_up ? most + 2 * payload_bytes_ : most;
}

std::uint64_t Bbr::probe_rtt_window() const {
  return std::max(scaled(model_.bdp_bytes(model_.bandwidth()), kProbeRttWindowGain), least_flight());
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
