// SPDX-License-Identifier: Apache-2.0
/// CUBIC as TCP has it (RFC 9438 with HyStart++, RFC 9406), as far as a rival goes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native::test {

namespace rfc {

// A round trip here has a sample for each batch of acknowledgements, not for each packet: the eight samples that RFC
// 9406 waits for might not come. The rest is its §4.3.
inline constexpr Duration kLeastGrowth = std::chrono::milliseconds(4);    // spec: RFC 9406 §4.3, MIN_RTT_THRESH
inline constexpr Duration kMaxRttGrowth = std::chrono::milliseconds(16);  // spec: RFC 9406 §4.3, MAX_RTT_THRESH
inline constexpr int kGrowthDivisor = 8;                                  // spec: RFC 9406 §4.3, MIN_RTT_DIVISOR
inline constexpr double kCarefulGrowth = 0.25;   // spec: RFC 9406 §4.3, 1 / CSS_GROWTH_DIVISOR
inline constexpr unsigned kCarefulRounds = 5;    // spec: RFC 9406 §4.3, CSS_ROUNDS
inline constexpr double kC = 0.4;                // spec: RFC 9438 §5.1
inline constexpr double kCubicBeta = 0.7;        // spec: RFC 9438 §4.6
inline constexpr double kMaxTargetGrowth = 1.5;  // spec: RFC 9438 §4.2, of the target within a round trip
inline constexpr double kFirstPackets = 32;      // guess: RFC 6928 has ten; these tests were made with more
inline constexpr double kLeastPackets = 2;       // spec: RFC 9438 §4.6
inline constexpr double kSlowStartPacingGain =
    2;                                       // spec: RFC 9002 §7.7 asks for more than 1; two lets the window double
inline constexpr double kPacingGain = 1.25;  // spec: RFC 9002 §7.7
// As fast as Reno would grow with this beta (RFC 9438 §4.3).
inline constexpr double kRenoGrowth = 3 * (1 - kCubicBeta) / (1 + kCubicBeta);
// A window counts as used if one train of packets does not fit any more. spec: trains are of 64 KiB at most
inline constexpr std::uint64_t kTrainBytes = 64 * kKiB;

}  // namespace rfc

/// HyStart++.
///
///   exponential ──round trips grew──► careful ──five round trips──► done
///        ▲                               │
///        └──round trips shrank again─────┘
///
/// source: RFC 9406
/// Threads: unsynchronised.
class HyStart {
 public:
  /// The window's growth for each byte delivered.
  [[nodiscard]] double growth() const;
  [[nodiscard]] bool done() const { return phase_ == Phase::done; }
  /// min_rtt   the least of the round trip that ended, if it had a sample
  void on_round_trip(std::optional<Duration> min_rtt);
  void on_loss() { phase_ = Phase::done; }
  /// A timeout begins slow start anew.
  void restart() { *this = HyStart{}; }

 private:
  enum class Phase { exponential, careful, done };

  Phase phase_ = Phase::exponential;
  unsigned careful_rounds_ = 0;
  std::optional<Duration> last_min_rtt_;
  Duration baseline_{0};  // the least of the round trip that looked too long
};

/// CUBIC with HyStart++, paced. Windows are counted in packets, as the equations are.
/// source: RFC 9438
/// Threads: unsynchronised; time is a parameter.
class Cubic final : public CongestionControl {
 public:
  explicit Cubic(std::size_t payload_bytes);

  void on_sent(TimePoint now, std::uint64_t bytes, std::uint64_t in_flight_bytes) override;
  void on_ack(const AckEvent& event) override;
  void on_loss(const LossEvent& event) override;
  void on_timeout(TimePoint now) override;
  void on_packet_size(std::size_t) override {}

  [[nodiscard]] std::uint64_t window_bytes() const override;
  [[nodiscard]] BitRate pacing_rate() const override;

 private:
  /// Congestion avoidance since the last reduction (RFC 9438 §4.1.2).
  struct Epoch {
    TimePoint start;
    double plateau_seconds = 0;  // K: from the start until the window is where it was
    double reno_packets = 0;     // W_est
    double reno_growth = 0;      // alpha
  };

  [[nodiscard]] bool in_slow_start() const;
  void reduce();
  void begin_epoch(TimePoint now);
  void grow(TimePoint now, double delivered_packets);
  [[nodiscard]] double cubic_packets(double seconds) const;

  std::size_t payload_bytes_;
  double window_packets_;
  double threshold_packets_;             // ssthresh
  double most_packets_ = 0;              // W_max
  double before_reduction_packets_ = 0;  // cwnd_prior
  std::optional<Epoch> epoch_;
  HyStart hystart_;
  RoundTrips rounds_;
  SmoothedRtt rtt_;
  bool window_limited_ = true;  // since the last ACK
  bool timed_out_ = false;      // and nothing heard since
};

inline double HyStart::growth() const {
  switch (phase_) {
    case Phase::exponential:
      return 1;
    case Phase::careful:
      return rfc::kCarefulGrowth;
    case Phase::done:
      return 0;
  }
  return 0;
}

inline void HyStart::on_round_trip(std::optional<Duration> min_rtt) {
  if (!min_rtt) return;
  if (phase_ == Phase::careful) {
    if (*min_rtt < baseline_)
      phase_ = Phase::exponential;
    else if (++careful_rounds_ >= rfc::kCarefulRounds)
      phase_ = Phase::done;
  } else if (phase_ == Phase::exponential && last_min_rtt_) {
    const auto growth =
        std::clamp<Duration>(*last_min_rtt_ / rfc::kGrowthDivisor, rfc::kLeastGrowth, rfc::kMaxRttGrowth);
    if (*min_rtt >= *last_min_rtt_ + growth) {
      phase_ = Phase::careful;
      careful_rounds_ = 0;
      baseline_ = *min_rtt;
    }
  }
  last_min_rtt_ = min_rtt;
}

inline Cubic::Cubic(std::size_t payload_bytes)
    : payload_bytes_(payload_bytes),
      window_packets_(rfc::kFirstPackets),
      threshold_packets_(std::numeric_limits<double>::infinity()) {}

inline void Cubic::on_sent(TimePoint, std::uint64_t bytes, std::uint64_t in_flight_bytes) {
  const auto free_enough = std::min(rfc::kTrainBytes, window_bytes() / 2);
  if (in_flight_bytes + bytes + free_enough >= window_bytes()) window_limited_ = true;
}

inline bool Cubic::in_slow_start() const { return window_packets_ < threshold_packets_ && !hystart_.done(); }

inline void Cubic::on_ack(const AckEvent& event) {
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

inline void Cubic::on_loss(const LossEvent& event) {
  rounds_.on_loss(event);
  if (!event.new_epoch || timed_out_) return;
  hystart_.on_loss();
  reduce();
  window_packets_ = threshold_packets_;
  epoch_.reset();
}

inline void Cubic::on_timeout(TimePoint) {
  // Those that follow the first tell nothing new.
  if (!timed_out_) reduce();
  timed_out_ = true;
  window_packets_ = rfc::kLeastPackets;
  epoch_.reset();
  hystart_.restart();
  rounds_.restart();
}

inline void Cubic::reduce() {
  // Fast convergence: a peak lower than the last one means that somebody else came (RFC 9438 §4.7).
  const bool lower = window_packets_ < most_packets_;
  most_packets_ = lower ? window_packets_ * (1 + rfc::kCubicBeta) / 2 : window_packets_;
  before_reduction_packets_ = window_packets_;
  threshold_packets_ = std::max(window_packets_ * rfc::kCubicBeta, rfc::kLeastPackets);
}

inline void Cubic::begin_epoch(TimePoint now) {
  // Slow start may have ended without a reduction, or above the last peak.
  most_packets_ = std::max(most_packets_, window_packets_);
  epoch_ = Epoch{.start = now,
                 .plateau_seconds = std::cbrt((most_packets_ - window_packets_) / rfc::kC),
                 .reno_packets = window_packets_,
                 .reno_growth = rfc::kRenoGrowth};
}

inline double Cubic::cubic_packets(double seconds) const {
  return rfc::kC * std::pow(seconds - epoch_->plateau_seconds, 3) + most_packets_;
}

inline void Cubic::grow(TimePoint now, double delivered_packets) {
  const double elapsed = seconds_of(now - epoch_->start);
  const double in_a_round_trip = elapsed + seconds_of(rtt_.value().value_or(Duration{0}));
  const double target =
      std::clamp(cubic_packets(in_a_round_trip), window_packets_, rfc::kMaxTargetGrowth * window_packets_);
  epoch_->reno_packets += epoch_->reno_growth * delivered_packets / window_packets_;
  if (epoch_->reno_packets >= before_reduction_packets_) epoch_->reno_growth = 1;
  window_packets_ += (target - window_packets_) * std::min(delivered_packets / window_packets_, 1.0);
  // Never slower than Reno would be (RFC 9438 §4.3).
  window_packets_ = std::max(window_packets_, epoch_->reno_packets);
}

inline std::uint64_t Cubic::window_bytes() const {
  return static_cast<std::uint64_t>(window_packets_ * static_cast<double>(payload_bytes_));
}

inline BitRate Cubic::pacing_rate() const {
  // Until the path has answered once there is nothing to spread the first window over.
  if (!rtt_.value()) return {};
  return scaled(BitRate::from_bytes_per(window_bytes(), *rtt_.value()),
                in_slow_start() ? rfc::kSlowStartPacingGain : rfc::kPacingGain);
}

}  // namespace udtcat::transport::native::test
