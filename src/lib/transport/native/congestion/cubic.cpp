#include "lib/transport/native/congestion/cubic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/transport/native/congestion/rate_math.hpp"

namespace udtcat::transport::native {

namespace {

constexpr double kC = 0.4;                  // spec: RFC 9438 §5.1
constexpr double kCubicBeta = 0.7;          // spec: RFC 9438 §4.6
constexpr double kMostTargetGrowth = 1.5;   // spec: RFC 9438 §4.2, of the target within a round trip
constexpr double kLeastPackets = 2;         // spec: RFC 9438 §4.6
constexpr double kSlowStartPacingGain = 2;  // spec: RFC 9002 §7.7 asks for more than 1; two lets the window double
constexpr double kPacingGain = 1.25;        // spec: RFC 9002 §7.7
// As fast as Reno would grow with this beta (RFC 9438 §4.3).
constexpr double kRenoGrowth = 3 * (1 - kCubicBeta) / (1 + kCubicBeta);
// A window counts as used if one train of packets does not fit any more. spec: trains are of 64 KiB at most
constexpr std::uint64_t kTrainBytes = 64 * kKiB;

}  // namespace

Cubic::Cubic(std::size_t payload_bytes)
    : payload_bytes_(payload_bytes),
      window_packets_(kInitialWindowPackets),
      threshold_packets_(std::numeric_limits<double>::infinity()) {}

void Cubic::on_sent(TimePoint, std::uint64_t bytes, std::uint64_t in_flight_bytes) {
  const auto free_enough = std::min(kTrainBytes, window_bytes() / 2);
  if (in_flight_bytes + bytes + free_enough >= window_bytes()) window_limited_ = true;
}

bool Cubic::in_slow_start() const { return window_packets_ < threshold_packets_ && !hystart_.done(); }

void Cubic::on_ack(const AckEvent& event) {
  timed_out_ = false;
  if (event.rtt) rtt_.update(*event.rtt);
  if (rounds_.on_ack(event)) hystart_.on_round_trip(rounds_.last().min_rtt);
  // A window that was not used has not been tried (RFC 9438 §5.8).
  if (!window_limited_ || event.app_limited) return;
  window_limited_ = false;
  const double delivered_packets =
      static_cast<double>(event.newly_delivered_bytes) / static_cast<double>(payload_bytes_);
  if (in_slow_start()) {
    window_packets_ += hystart_.growth() * delivered_packets;
    return;
  }
  if (!epoch_) begin_epoch(event.now);
  grow(event.now, delivered_packets);
}

void Cubic::on_loss(const LossEvent& event) {
  rounds_.on_loss(event.lost_bytes);
  if (!event.new_epoch || timed_out_) return;
  hystart_.on_loss();
  reduce();
  window_packets_ = threshold_packets_;
  epoch_.reset();
}

void Cubic::on_timeout(TimePoint) {
  // Those that follow the first tell nothing new.
  if (!timed_out_) reduce();
  timed_out_ = true;
  window_packets_ = kLeastPackets;
  epoch_.reset();
  hystart_.restart();
  rounds_.restart();
}

void Cubic::reduce() {
  // Fast convergence: a peak lower than the last one means that somebody else came (RFC 9438 §4.7).
  const bool lower = window_packets_ < most_packets_;
  most_packets_ = lower ? window_packets_ * (1 + kCubicBeta) / 2 : window_packets_;
  before_reduction_packets_ = window_packets_;
  threshold_packets_ = std::max(window_packets_ * kCubicBeta, kLeastPackets);
}

void Cubic::begin_epoch(TimePoint now) {
  // Slow start may have ended without a reduction, or above the last peak.
  most_packets_ = std::max(most_packets_, window_packets_);
  epoch_ = Epoch{.start = now,
                 .plateau_seconds = std::cbrt((most_packets_ - window_packets_) / kC),
                 .reno_packets = window_packets_,
                 .reno_growth = kRenoGrowth};
}

double Cubic::cubic_packets(double seconds) const {
  return kC * std::pow(seconds - epoch_->plateau_seconds, 3) + most_packets_;
}

void Cubic::grow(TimePoint now, double delivered_packets) {
  const double elapsed = seconds_of(now - epoch_->start);
  const double in_a_round_trip = elapsed + seconds_of(rtt_.value().value_or(Duration{0}));
  const double target =
      std::clamp(cubic_packets(in_a_round_trip), window_packets_, kMostTargetGrowth * window_packets_);
  epoch_->reno_packets += epoch_->reno_growth * delivered_packets / window_packets_;
  if (epoch_->reno_packets >= before_reduction_packets_) epoch_->reno_growth = 1;
  window_packets_ += (target - window_packets_) * std::min(delivered_packets / window_packets_, 1.0);
  // Never slower than Reno would be (RFC 9438 §4.3).
  window_packets_ = std::max(window_packets_, epoch_->reno_packets);
}

void Cubic::on_packet_size(std::size_t payload_bytes) {
  const double factor = static_cast<double>(payload_bytes_) / static_cast<double>(payload_bytes);
  for (double* packets : {&window_packets_, &threshold_packets_, &most_packets_, &before_reduction_packets_})
    *packets *= factor;
  window_packets_ = std::max(window_packets_, kLeastPackets);
  payload_bytes_ = payload_bytes;
  epoch_.reset();
}

std::uint64_t Cubic::window_bytes() const {
  return static_cast<std::uint64_t>(window_packets_ * static_cast<double>(payload_bytes_));
}

BitRate Cubic::pacing_rate() const {
  // Until the path has answered once there is nothing to spread the first window over.
  if (!rtt_.value()) return {};
  return scaled(BitRate::from_bytes_per(window_bytes(), *rtt_.value()),
                in_slow_start() ? kSlowStartPacingGain : kPacingGain);
}

}  // namespace udtcat::transport::native
