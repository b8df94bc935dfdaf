// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/bbr_model.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr Duration kProbeInterval = 5s;  // spec: draft-ietf-ccwg-bbr, BBR.ProbeRTTInterval
constexpr Duration kLifetime = 10s;      // spec: draft-ietf-ccwg-bbr, BBR.MinRTTFilterLen
constexpr Duration kMaxSlack = 4ms;      // guess: a train, and the receive coalescing
constexpr Duration kLeastSlack = 300us;  // measured: timers of virtual machines are 50 to 300 us late

// A sample so far above the minimum still confirms it.
Duration slack(Duration least) { return std::clamp<Duration>(least / 16, kLeastSlack, kMaxSlack); }

constexpr Duration kLeastLinger = 1ms;  // guess: hosts are so late

constexpr unsigned kPeriodRounds =
    5;  // spec: draft-ietf-ccwg-bbr, BBR.ExtraAckedFilterLen is ten, of which this is half
// spec: Linux's BBRv3, bbr_extra_acked_max_us. The draft has no such limit; a rate estimated too low would then feed
// itself.
constexpr Duration kMaxTime = std::chrono::milliseconds(100);

// measured: ADR-0058: with 0.15 twenty of us lose 2.4 %, with 0.05 a short queue costs a tenth of the rate. Where
// chance takes more, PathLoss knows and tolerates it
constexpr double kLossInProbe = 0.08;
// measured: ADR-0059: with 0.1 twenty of us lose 5 % of 1 Gbit/s; without any, BBRv1 takes all
constexpr double kLossBesideUnresponsive = 0.05;
constexpr double kHopelessLoss = 0.5;           // guess: a pace at which half is lost is too fast, whatever the cause
constexpr unsigned kHopelessRounds = 2;         // measured: ADR-0062: bursts lose half of a single round trip, too
constexpr std::uint64_t kHopelessPackets = 64;  // guess: half of fewer may be chance's, in bursts
constexpr Duration kFallMemory = 10s;           // guess: a radio's dip is over by then
constexpr double kRegained = 0.9;               // guess: samples scatter by some percent
constexpr double kGrowth = 1.25;                // spec: draft-ietf-ccwg-bbr, "BBRCheckFullBWReached"
constexpr double kUnexplained = 0.05;           // guess: above kLossTolerance of PathLoss
constexpr double kJump = 1.3;    // guess: a probe of 1.25 adds less to a round trip; one after a fall is not told apart
constexpr int kSteadyPart = 16;  // guess: of a round trip; a queue that others fill moves by more
// In a full queue a flow's share is what arrives: a rate of that would leave other flows nothing.
constexpr double kYield = 0.85;      // measured: CUBIC gets 0.30 to 0.60 of 1 Gbit/s at 20 ms; with 1, 0.05 to 0.30
constexpr double kHostYield = 0.95;  // measured: ADR-0030; a backlog in the host is gone after some round trips
constexpr unsigned kEnoughRttSamples = 8;  // spec: RFC 9406 §4.3, N_RTT_SAMPLE
constexpr double kQueueRtt = 1.25;         // guess: above the queue of our own probing at a gain of 1.25
// Below this, round trips on a LAN measure how the two hosts schedule, several milliseconds at a time; a window of so
// little would wait for the scheduler. guess: half of what a scheduler's quantum is, and doubled by the gain of the
// window.
constexpr Duration kLeastModelRtt = 1ms;
constexpr int kPartsOfRtt = 4;        // guess: the delay of an ACK and a host's scheduling are small beside it
constexpr Duration kLeastPart = 5ms;  // guess: the same, where the round trip is short
constexpr Duration kHostPause = 8ms;  // guess: two of a scheduler's quanta

}  // namespace

void MinRtt::Least::offer(TimePoint now, Duration rtt) {
  if (!value || rtt < *value) value = rtt;
  if (rtt <= *value + slack(*value)) time = now;
}

void MinRtt::update(TimePoint now, Duration rtt) {
  probe_due_ = recent_.expired(now, kProbeInterval);
  if (probe_due_) recent_.value.reset();
  recent_.offer(now, rtt);
  if (least_.expired(now, kLifetime)) least_ = recent_;
  least_.offer(now, rtt);
}

void MinRtt::confirm(TimePoint now) {
  recent_.time = now;
  least_.time = now;
  probe_due_ = false;
}

void MinRtt::replace(TimePoint now, Duration rtt) {
  least_ = recent_ = Least{rtt, now};
  probe_due_ = false;
}

void AckAggregation::on_ack(TimePoint now, std::uint64_t newly_delivered_bytes, BitRate bandwidth,
                            std::uint64_t window_bytes) {
  auto expected_bytes = bytes_during(bandwidth, now - interval_start_);
  if (interval_delivered_bytes_ <= expected_bytes) {
    restart(now);
    expected_bytes = 0;
  }
  interval_delivered_bytes_ += newly_delivered_bytes;
  const auto extra_bytes = interval_delivered_bytes_ - std::min(interval_delivered_bytes_, expected_bytes);
  extra_.update(std::min({extra_bytes, window_bytes, bytes_during(bandwidth, kMaxTime)}));
}

void AckAggregation::on_round_trip(bool starting) {
  // In startup the rate doubles with each round trip: the excess of one is the ordinary rate of the next.
  if (++rounds_ < kPeriodRounds && !starting) return;
  rounds_ = 0;
  extra_.advance();
}

void AckAggregation::restart(TimePoint now) {
  interval_start_ = now;
  interval_delivered_bytes_ = 0;
}

void StartupRate::on_ack(const AckEvent& ack, Duration min_rtt) {
  if (!ack.newest_sent_at) return;
  const Mark end{*ack.newest_sent_at, ack.now, ack.delivered_total_bytes};
  if (!begin_) begin_ = end;
  const auto part = std::max<Duration>(min_rtt / kPartsOfRtt, kLeastPart);
  if (end.sent_at - begin_->sent_at < part) return;
  // The longer of both times, as of any sample: neither a burst nor ACKs that come together pass for a rate.
  const auto time = std::max(end.sent_at - begin_->sent_at, end.acked_at - begin_->acked_at);
  value_ = std::max(value_, BitRate::from_bytes_per(end.delivered_bytes - begin_->delivered_bytes, time));
  begin_ = end;
  const bool grown = value_ >= scaled(grown_to_, kGrowth);
  // With too little to send no rate grows.
  parts_without_growth_ = grown || ack.app_limited ? 0 : parts_without_growth_ + 1;
  if (grown) grown_to_ = value_;
}

bool BbrModel::on_ack(const AckEvent& ack, Phase phase, std::uint64_t window_bytes) {
  phase_ = phase;
  if (ack.rtt) min_rtt_.update(ack.now, *ack.rtt);
  if (ack.rate) update_bandwidth(*ack.rate);
  if (phase.starting && min_rtt_.value()) startup_rate_.on_ack(ack, *min_rtt_.value());
  const bool round_start = rounds_.on_ack(ack);
  if (round_start) on_round_trip(ack, window_bytes);
  watch_rate(ack);
  aggregation_.on_ack(ack.now, ack.newly_delivered_bytes, bandwidth(), window_bytes);
  return round_start;
}

void BbrModel::on_round_trip(const AckEvent& ack, std::uint64_t window_bytes) {
  const auto& round = rounds_.last();
  const bool overflowed = queue_stands() && congestion(round.lost_bytes, round.lost_bytes + round.delivered_bytes);
  if ((overflowed || round.host_overloaded) && !phase_.own_queue) lower_short_term(window_bytes);
  tell_loss_apart(ack);
  watch_length();
  aggregation_.on_round_trip(phase_.starting);
}

void BbrModel::tell_loss_apart(const AckEvent& ack) {
  const auto& round = rounds_.last();
  // After the window was made smaller, losses of the larger flight would be related to the few packets that arrive now.
  const bool same_flight = phase_.steady || phase_.draining;
  const bool hopeless = same_flight && !path_loss_.trying() && loses_hopelessly(round);
  hopeless_rounds_ = hopeless ? hopeless_rounds_ + 1 : 0;
  if (hopeless_rounds_ >= kHopelessRounds) return take_delivery_for_bandwidth(round);
  if (phase_.probing || ack.app_limited || round.host_overloaded || round.long_trains || queue_shows()) {
    if (path_loss_.cancel()) forget_short_term();
    return;
  }
  if (!phase_.steady) return path_loss_.skip();
  switch (path_loss_.on_round_trip(ack.now, round, bandwidth(), payload_bytes_)) {
    case PathLoss::Diagnosis::none:
      return;
    case PathLoss::Diagnosis::doubt:
      short_term_bandwidth_ = std::min(short_term_bandwidth_, path_loss_.carried());
      return;
    case PathLoss::Diagnosis::chance:
      return forget_short_term();
    case PathLoss::Diagnosis::excess:

      max_bandwidth_.lower(path_loss_.carried());
      return forget_short_term();
  }
}

// A queue grows over several round trips, and shrinks; a full one loses packets. A longer path is longer from one round
// trip to the next, and stays so.
void BbrModel::watch_length() {
  const RoundTrip& round = rounds_.last();
  const auto before = std::exchange(last_rtt_, round.min_rtt);
  if (!before || !round.min_rtt || unexplained(round) || phase_.starting) return jumped_to_.reset();
  const Duration rtt = *round.min_rtt;
  if (!jumped_to_) {
    if (rtt < duration_of(seconds_of(*before) * kJump) + kLeastModelRtt || !queue_shows()) return;
    jumped_to_ = steady_rtt_ = rtt;
    steady_rounds_ = rounds_since_jump_ = 0;
  } else {
    // steady_rtt_ moves: the first round trip saw a part of the jump, and a probe of ours adds a queue.
    const bool steady = std::chrono::abs(rtt - steady_rtt_) <= steady_rtt_ / kSteadyPart;
    steady_rounds_ = steady ? steady_rounds_ + 1 : 0;
    if (!steady) steady_rtt_ = rtt;
    const bool over = steady_rounds_ < kSteadyRounds && ++rounds_since_jump_ > kJumpRounds;
    if (over || rtt < *jumped_to_ - *jumped_to_ / kSteadyPart) jumped_to_.reset();
  }
}

void BbrModel::on_probe_start() {
  before_probe_ = max_bandwidth();
  path_loss_.on_probe(before_probe_);
}

void BbrModel::on_probe_end() {
  if (max_bandwidth() >= scaled(before_probe_, kGrowth)) {
    probes_until_steady_ = kProbesUntilSteady;
    return;
  }
  if (probes_until_steady_ > 0) --probes_until_steady_;
}

void BbrModel::watch_rate(const AckEvent& ack) {
  const auto least = min_rtt_.value();
  if (!least || !ack.rtt || phase_.starting || phase_.unresponsive_flows) return rate_drop_.restart();
  const bool queued = *ack.rtt > 2 * *least + kLeastModelRtt;
  if (const auto rate = rate_drop_.on_ack(ack, bandwidth(), *least, queued)) {
    probes_until_steady_ = kProbesUntilSteady;
    fallen_from_ = std::max(fallen_from_.value_or(BitRate()), bandwidth());
    fallen_at_ = ack.now;

    max_bandwidth_.lower(*rate);
    forget_short_term();
  } else if (fallen_from_ && (ack.now > fallen_at_ + kFallMemory || bandwidth() >= scaled(*fallen_from_, kRegained))) {
    fallen_from_.reset();
  }
}

void BbrModel::accept_rtt(TimePoint now) {
  jumped_to_.reset();
  const auto rtt = rounds_.recent_min_rtt();
  // A queue that other flows fill loses packets, a longer path does not.
  const bool full = unexplained(rounds_.last()) || unexplained(rounds_.present());
  if (rtt && !full && queue_shows()) min_rtt_.replace(now, *rtt);
}

void BbrModel::update_bandwidth(const RateSample& sample) {
  // Shorter than any round trip: the answer was to an earlier copy of the packet.
  // spec: draft-ietf-ccwg-bbr, "GenerateRateSample"
  if (min_rtt_.value() && sample.interval < *min_rtt_.value()) return;
  const auto bandwidth = BitRate::from_bytes_per(sample.delivered_bytes, sample.interval);
  // An app-limited sample is a lower bound of the bandwidth, no upper one.
  if (!sample.app_limited || bandwidth >= max_bandwidth()) max_bandwidth_.update(bandwidth);
}

void BbrModel::on_silence(TimePoint now) {
  min_rtt_.confirm(now);
  rate_drop_.restart();
  path_loss_.on_silence();
  hopeless_rounds_ = 0;
  aggregation_.restart(now);
  rounds_.forget();
  forget_short_term();
}

void BbrModel::forget_short_term() {
  short_term_bandwidth_ = BitRate::from_bits_per_second(kUnbounded);
  short_term_bytes_ = kUnbounded;
}

// In a full queue this flow's share is what arrived: the bandwidth is cut to less, for other flows. The backlog of a
// host is gone with a small cut.
void BbrModel::lower_short_term(std::uint64_t window_bytes) {
  const auto& round = rounds_.last();
  double least = round.host_overloaded ? kHostYield : 1.0;
  if (queue_stands() && !host_bound()) least = kYield;
  short_term_bandwidth_ = std::max(scaled(round.bandwidth, least), scaled(bandwidth(), kBeta));
  short_term_bytes_ = std::max(round.in_flight_bytes, scaled(std::min(short_term_bytes_, window_bytes), kBeta));
}

bool BbrModel::host_bound() const { return min_rtt_.value() && *min_rtt_.value() < kLeastModelRtt; }

std::uint64_t BbrModel::bdp_bytes(BitRate bandwidth) const {
  if (!min_rtt_.value()) return 0;
  return bytes_during(bandwidth, std::max(*min_rtt_.value(), kLeastModelRtt));
}

// Where hosts are the bottleneck they pause for milliseconds, and what they then acknowledge at once would allow as
// large a queue.
std::uint64_t BbrModel::extra_acked_bytes() const {
  const auto extra = aggregation_.extra_bytes();
  return host_bound() ? std::min(extra, bytes_during(max_bandwidth(), kHostPause)) : extra;
}

bool BbrModel::queue_shows() const {
  const auto least = min_rtt_.value();
  const auto recent = rounds_.recent_min_rtt();
  return least && recent && *recent > *least + slack(*least);
}

bool BbrModel::queue_lingers() const {
  const auto least = min_rtt_.value();
  const auto recent = rounds_.recent_min_rtt();
  return least && recent && !host_bound() &&
         *recent > *least + std::clamp<Duration>(*least / 8, kLeastLinger, kMaxSlack);
}

bool BbrModel::queue_stands() const { return queued(rounds_.recent_min_rtt()); }

bool BbrModel::queue_builds() const {
  return rounds_.present().rtt_samples >= kEnoughRttSamples && queued(rounds_.present().min_rtt);
}

bool BbrModel::queued(std::optional<Duration> rtt) const {
  const auto least = min_rtt_.value();
  return rtt && least && *rtt > duration_of(seconds_of(*least) * kQueueRtt) + kLeastModelRtt;
}

bool BbrModel::congestion(std::uint64_t lost_bytes, std::uint64_t of_bytes) const {
  if (!queue_stands())
    return lost_bytes > std::max(path_loss_.tolerated_bytes(of_bytes, payload_bytes_), scaled(of_bytes, kLossInProbe));
  const auto tolerated = scaled(of_bytes, phase_.unresponsive_flows ? kLossBesideUnresponsive : 0);
  return lost_bytes > std::max(tolerated, kFewLostPackets * payload_bytes_);
}

bool BbrModel::unexplained(const RoundTrip& round) const {
  return round.lost_bytes > kFewLostPackets * payload_bytes_ && round.loss_rate() > path_loss_.value() + kUnexplained;
}

bool BbrModel::in_flight_too_high(const RateSample& sample) const {
  return congestion(sample.lost_bytes, sample.in_flight_at_send_bytes);
}

void BbrModel::take_delivery_for_bandwidth(const RoundTrip& round) {
  max_bandwidth_.lower(path_loss_.delivery_rate(round, bandwidth()));
  forget_short_term();
}

bool BbrModel::loses_hopelessly(const RoundTrip& round) const {
  return !round.long_trains && round.loss_rate() > kHopelessLoss &&
         round.lost_bytes > kHopelessPackets * payload_bytes_;
}

}  // namespace udtcat::transport::native
