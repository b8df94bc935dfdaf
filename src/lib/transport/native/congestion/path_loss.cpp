// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/path_loss.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace udtcat::transport::native {

namespace {

constexpr double kLossTolerance = 0.03;          // guess: BBR.LossThresh is 0.02; paths that lose 3 % are many
constexpr double kLossyPath = 0.05;              // guess: below it a correction is less than the samples scatter
constexpr double kPolicerStep = 0.9;             // guess: a policer's rate is reached in some steps of a tenth
constexpr double kDeviations = 2;                // guess: one round trip of forty is worse by chance
constexpr double kLongestRun = 32;               // guess: longer ones are an outage, or a queue's
constexpr double kRunSmoothing = 1.0 / 8;        // guess: as RFC 6298 smooths a round trip
constexpr double kLeastChance = 0.005;           // guess: for the deviation of a path that has lost nothing yet
constexpr double kPathLossSmoothing = 1.0 / 16;  // guess: a loss of 1 % needs some round trips to be seen
constexpr double kMostChance = 0.5;              // guess: twice as much is sent then, and no path has more random loss
constexpr double kUntriedLoss = 0.1;             // guess: ADR-0048: radio links lose as much
constexpr std::uint64_t kEnoughPackets = 128;    // guess: at a loss of 10 % 13 are not taken for 6
constexpr double kEnoughRun = 2;                 // guess: kEnoughPackets are enough where so many are lost in a row
constexpr double kMaxRunFactor = 4;  // measured: ADR-0062: with 8, loss of 30 % in runs of ten is told apart too late
constexpr unsigned kMostTrialRounds = 16;  // guess: of flights of few packets
constexpr unsigned kFirstRest = 8;         // guess: round trips
constexpr unsigned kLongestRest = 64;      // guess: the same

}  // namespace

PathLoss::PathLoss() : next_rest_(kFirstRest) {}

std::uint64_t PathLoss::tolerated_bytes(std::uint64_t of_bytes, std::size_t payload_bytes) const {
  const double packets = std::max(static_cast<double>(of_bytes) / static_cast<double>(payload_bytes), 1.0);
  const double deviation = std::sqrt(std::max(value_, kLeastChance) * run_packets_ / packets);
  return std::max(scaled(of_bytes, value_ + kLossTolerance + kDeviations * deviation), kFewLostPackets * payload_bytes);
}

PathLoss::Diagnosis PathLoss::on_round_trip(TimePoint now, const RoundTrip& round, BitRate bandwidth,
                                            std::size_t payload_bytes) {
  if (rest_rounds_ > 0) --rest_rounds_;
  note_runs(round, payload_bytes);
  if (state_ == State::slowing || state_ == State::doubting) {
    // All packets of this round trip had left at the pace of before.
    state_ = state_ == State::slowing ? State::comparing : State::watching;
    begin_sums();
    return Diagnosis::none;
  }
  if (state_ == State::known) learn(round.loss_rate());
  sums_.lost_bytes += round.lost_bytes;
  sums_.delivered_bytes += round.delivered_bytes;
  sums_.bandwidth = std::max(sums_.bandwidth, round.bandwidth);
  sums_.time += round.time;
  const std::uint64_t sent_bytes = sums_.lost_bytes + sums_.delivered_bytes;
  if (++summed_rounds_ < kMostTrialRounds && sent_bytes < bytes_to_judge(payload_bytes)) return Diagnosis::none;
  if (state_ == State::comparing) return judge(payload_bytes);
  const bool exceeded = sums_.lost_bytes > tolerated_bytes(sent_bytes, payload_bytes);
  if (state_ == State::watching) return watch(exceeded, payload_bytes);
  return weigh(now, exceeded, bandwidth);
}

// The deviation of random loss: losses in runs scatter more, as if fewer packets had been sent.
std::uint64_t PathLoss::bytes_to_judge(std::size_t payload_bytes) const {
  return scaled(kEnoughPackets * payload_bytes, std::clamp(run_packets_ / kEnoughRun, 1.0, kMaxRunFactor));
}

void PathLoss::note_runs(const RoundTrip& round, std::size_t payload_bytes) {
  if (round.lost_runs == 0) return;
  const double packets = static_cast<double>(round.lost_bytes) / static_cast<double>(payload_bytes);
  const double run = std::clamp(packets / static_cast<double>(round.lost_runs), 1.0, kLongestRun);
  run_packets_ += kRunSmoothing * (run - run_packets_);
}

/// Whether no more is lost than random loss as before explains.
bool PathLoss::significantly_less(std::size_t payload_bytes) const {
  const double packets =
      static_cast<double>(sums_.lost_bytes + sums_.delivered_bytes) / static_cast<double>(payload_bytes);
  const double lost = static_cast<double>(sums_.lost_bytes) / static_cast<double>(payload_bytes);
  const double expected = before_.loss_rate() * packets;
  return expected - lost > kDeviations * std::sqrt(expected * run_packets_);
}

PathLoss::Diagnosis PathLoss::watch(bool exceeded, std::size_t payload_bytes) {
  const bool long_enough = summed_rounds_ >= kMostTrialRounds;
  if (!exceeded && (long_enough || significantly_less(payload_bytes))) {
    // A doubt begins with the worst round trip of many. On a lossy path most of its loss was random: the path carries
    // what would have arrived at the usual loss, less a step towards a policer's rate.
    const double as_usual = (1 - value_) / (1 - before_.loss_rate());
    if (value_ > kLossyPath) carried_ = std::max(carried_, scaled(before_.delivered_rate(), kPolicerStep * as_usual));
    cancel();
    rest_rounds_ = kFirstRest;
    return Diagnosis::excess;
  }
  if (exceeded && rtt_probed_at_ >= doubted_at_) {
    before_ = sums_;
    state_ = State::slowing;
    begin_sums();
  } else if (long_enough) {
    begin_sums();
  }
  return Diagnosis::none;
}

PathLoss::Diagnosis PathLoss::weigh(TimePoint now, bool exceeded, BitRate bandwidth) {
  const RoundTrip sums = sums_;
  begin_sums();
  const auto before_probe = std::exchange(before_probe_, std::nullopt);
  if (exceeded && before_probe) {
    carried_ = std::max(*before_probe, delivery_rate(sums, bandwidth));
    return Diagnosis::excess;
  }
  if (!exceeded || rest_rounds_ > 0) return Diagnosis::none;
  carried_ = delivery_rate(sums, bandwidth);
  before_ = sums;
  state_ = State::doubting;
  doubted_at_ = now;
  return Diagnosis::doubt;
}

// By the lost share: delivered_rate() includes pauses of the sender.
BitRate PathLoss::delivery_rate(const RoundTrip& sums, BitRate bandwidth) const {
  return std::max(sums.delivered_rate(), scaled(bandwidth, std::min(1.0, (1 - sums.loss_rate()) / (1 - value_))));
}

void PathLoss::begin_sums() {
  sums_ = RoundTrip{};
  summed_rounds_ = 0;
}

// Loss of up to a tenth is compensated without a trial: ADR-0048.
void PathLoss::learn(double loss) {
  value_ += kPathLossSmoothing * (std::min(loss, std::max(found_ + kLossTolerance, kUntriedLoss)) - value_);
}

// A path with a fixed rate that lost `before` at the full pace loses (before - 1/4) / (3/4), or nothing, at three
// quarters of it. Random loss is `before` at both. The nearer of the two is the cause.
PathLoss::Diagnosis PathLoss::judge(std::size_t payload_bytes) {
  const double before = before_.loss_rate();
  const double slower = sums_.loss_rate();
  const double of_excess = std::max(0.0, (before - (1 - kTrialGain)) / kTrialGain);
  const bool excess = slower <= (before + of_excess) / 2;
  if (excess && !significantly_less(payload_bytes) && summed_rounds_ < kMostTrialRounds) return Diagnosis::none;
  state_ = State::known;
  if (excess) {
    carried_ = std::max(delivery_rate(before_, carried_), sums_.delivered_rate());
    rest_rounds_ = 0;
    next_rest_ = kFirstRest;
    begin_sums();
    return Diagnosis::excess;
  }
  begin_sums();
  value_ = found_ = std::min(slower, kMostChance);
  rest();
  return Diagnosis::chance;
}

void PathLoss::rest() {
  rest_rounds_ = next_rest_;
  next_rest_ = std::min(2 * next_rest_, kLongestRest);
}

void PathLoss::on_silence() {
  cancel();
  rest_rounds_ = std::max(rest_rounds_, kFirstRest);
}

bool PathLoss::cancel() {
  begin_sums();
  return std::exchange(state_, State::known) != State::known;
}

}  // namespace udtcat::transport::native
