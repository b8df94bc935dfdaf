// SPDX-License-Identifier: Apache-2.0
/// BBR's model of the path: its bandwidth, its round trip, and how much of its loss is congestion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/measures.hpp"
#include "lib/transport/native/congestion/path_loss.hpp"
#include "lib/transport/native/congestion/rate_fall.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// The least round trip time of the last ten seconds, that of the empty path as far as it is known, and whether it is
/// time to look for it again.
///
/// Deviates from the draft: a sample close to the minimum confirms it as one below does. A flow that drains its queue
/// once a cycle therefore never has to slow down to measure.
/// source: draft-ietf-ccwg-bbr, "BBR.min_rtt: Estimating Min RTT"
/// Threads: unsynchronised; time is a parameter.
class MinRtt {
 public:
  void update(TimePoint now, Duration rtt);
  /// Silence was no fault of the path's length: what is known stays good for another term.
  void confirm(TimePoint now);
  /// With half a bandwidth-delay product in flight a round trip took `rtt`: no queue of ours is in it.
  void replace(TimePoint now, Duration rtt);

  [[nodiscard]] std::optional<Duration> value() const { return least_.value; }
  /// None of the samples of the last five seconds came near the minimum, at the last update.
  [[nodiscard]] bool probe_due() const { return probe_due_; }
  /// So long no sample came near the minimum.
  [[nodiscard]] Duration unconfirmed(TimePoint now) const { return least_.value ? now - least_.stamp : Duration{0}; }

 private:
  struct Least {
    std::optional<Duration> value;
    TimePoint stamp;

    [[nodiscard]] bool expired(TimePoint now, Duration lifetime) const { return value && now > stamp + lifetime; }
    void offer(TimePoint now, Duration rtt);
  };

  Least recent_;  // decides when to probe
  Least least_;   // the answer; lives longer, so that a probe comes before it is forgotten
  bool probe_due_ = false;
};

/// How much more than the path's rate arrives at once, because the receiver acknowledges in batches: what must be in
/// flight beyond the bandwidth-delay product so that the path stays busy between two batches.
/// source: draft-ietf-ccwg-bbr, "BBR.extra_acked: Estimating the ACK Aggregation"
/// Threads: unsynchronised; time is a parameter.
class AckAggregation {
 public:
  /// bandwidth      what the path is thought to carry
  /// window_bytes   one batch cannot be larger
  void on_ack(TimePoint now, std::uint64_t newly_delivered_bytes, BitRate bandwidth, std::uint64_t window_bytes);
  void on_round_trip(bool starting);
  /// Nothing was in flight: the time that passed says nothing of batches.
  void restart(TimePoint now);

  [[nodiscard]] std::uint64_t extra_bytes() const { return extra_.value(); }

 private:
  TimePoint interval_start_;
  std::uint64_t interval_delivered_bytes_ = 0;
  RecentMax<std::uint64_t> extra_;
  unsigned rounds_ = 0;  // of the filter's present period
};

/// The fastest delivery before the pipe is full, measured over parts of a round trip: a sample of a whole one still
/// counts the flight before, which was a fraction of the present.
///
/// Deviates from the draft, which has samples of whole round trips only.
/// Threads: unsynchronised; time is a parameter.
class StartupRate {
 public:
  void on_ack(const AckEvent& ack, Duration min_rtt);
  [[nodiscard]] BitRate value() const { return value_; }
  /// Three quarters of a round trip brought no quarter more.
  [[nodiscard]] bool stalls() const { return parts_without_growth_ >= kStalledParts; }

 private:
  static constexpr unsigned kStalledParts = 3;  // guess: one or two may be what a host held up
  static constexpr double kGrowth = 1.25;       // spec: draft-ietf-ccwg-bbr, "BBRCheckFullBWReached"

  struct Mark {
    TimePoint sent_at;
    TimePoint acked_at;
    std::uint64_t delivered_bytes;
  };
  std::optional<Mark> begin_;
  BitRate value_;
  BitRate grown_to_;
  unsigned parts_without_growth_ = 0;
};

/// The model of the path, and the two bounds that congestion puts on it until the next probe.
///
/// Deviates from the draft in what it takes for congestion. There, two percent of loss in a probe and any loss outside
/// of one are. Here, losses that come with a standing queue are. Without one a slower pace tells whether chance or
/// excess takes them (PathLoss), and a probe ends only where it loses more than chance may. So random losses leave the
/// rate alone, and a full drop-tail queue does not. And what the path loses at random is sent on top of what it
/// delivers, which would otherwise sink from cycle to cycle.
/// source: draft-ietf-ccwg-bbr, "Updating Model Parameters"
/// Threads: unsynchronised; time is a parameter.
class BbrModel {
 public:
  explicit BbrModel(std::size_t payload_bytes) : payload_bytes_(payload_bytes) {}

  struct Phase {
    bool starting = false;            ///< the pipe has not been full yet
    bool own_queue = false;           ///< what stands in the queue may be what we put there: bounds are not lowered
    bool probing = false;             ///< sending more than the path is known to carry, or about to
    bool draining = false;            ///< sending less, until what the startup put into the queue is gone
    bool steady = false;              ///< sending what the path is known to carry, with no probe to be heard of
    bool unresponsive_flows = false;  ///< they do not give way, so that a queue is no reason to
  };
  /// Whether a new round trip begins with this ACK.
  [[nodiscard]] bool on_ack(const AckEvent& ack, Phase phase, std::uint64_t window_bytes);
  void on_loss(const LossEvent& event) { rounds_.on_loss(event); }
  void on_packet_size(std::size_t payload_bytes) { payload_bytes_ = payload_bytes; }
  /// There was nothing to send, and nothing is in flight.
  void on_idle(TimePoint now) { aggregation_.restart(now); }
  /// Nothing got through for a while. Path and bandwidth are remembered.
  void on_silence(TimePoint now);

  void restart_round() { rounds_.restart(); }
  void end_bandwidth_cycle() { max_bandwidth_.advance(); }
  void on_probe_start();
  void on_probe_end();
  void forget_short_term();
  /// The last round trips show what the path takes without a queue.
  void accept_rtt(TimePoint now);
  /// Others shall find something left: what the path carried of us counts for less, until a probe shows more.
  void give_back() { max_bandwidth_.scale(kKeptShare); }

  [[nodiscard]] BitRate max_bandwidth() const {
    return phase_.starting ? std::max(max_bandwidth_.value(), startup_rate_.value()) : max_bandwidth_.value();
  }
  [[nodiscard]] BitRate bandwidth() const { return std::min(max_bandwidth(), short_term_bandwidth_); }
  /// The rate to send at for `delivered` to arrive. A queue says that the path takes no more, whatever it loses.
  [[nodiscard]] BitRate sent_for(BitRate delivered) const {
    return queue_shows() ? delivered : scaled(delivered, 1 / (1 - path_loss_.value()));
  }
  [[nodiscard]] std::uint64_t short_term_bytes() const { return short_term_bytes_; }
  [[nodiscard]] std::uint64_t extra_acked_bytes() const;
  [[nodiscard]] const MinRtt& min_rtt() const { return min_rtt_; }
  [[nodiscard]] const RoundTrip& last_round() const { return rounds_.last(); }
  /// So far, at the last ACK.
  [[nodiscard]] const RoundTrip& present_round() const { return rounds_.present(); }
  /// The hosts take longer than the way between them: see bdp_bytes().
  [[nodiscard]] bool host_bound() const;

  /// Zero without a sample.
  [[nodiscard]] std::uint64_t bdp_bytes(BitRate bandwidth) const;
  /// More of the flight of this sample was lost than the path loses by itself.
  [[nodiscard]] bool in_flight_too_high(const RateSample& sample) const;
  /// More than half of `round` was lost, which is too fast a pace, whatever the cause.
  [[nodiscard]] bool loses_hopelessly(const RoundTrip& round) const;
  /// A trial is on: the pace is to be PathLoss::kTrialGain of what it was.
  [[nodiscard]] bool tries_slower() const { return path_loss_.trying(); }
  /// Loss without a queue is not explained yet.
  [[nodiscard]] bool doubts_loss() const { return path_loss_.busy(); }
  /// A queue that was full from the beginning may lose it.
  [[nodiscard]] bool wants_rtt() const { return path_loss_.wants_rtt(); }
  /// More of the last round trip was lost than the path is known to lose.
  [[nodiscard]] bool loses_unexplained() const { return unexplained(rounds_.last()); }
  void on_rtt_probed(TimePoint now) { path_loss_.on_rtt_probed(now); }
  /// The path carried more a while ago.
  [[nodiscard]] bool rate_has_fallen() const { return fallen_from_.has_value(); }
  /// Its rate has changed, and fewer than kProbesUntilSteady probes since have found it the same.
  [[nodiscard]] bool rate_varies() const { return probes_until_steady_ > 0 || rate_has_fallen(); }
  /// The startup may have met a varying rate at its least: one early probe tells.
  void on_startup_drained() { probes_until_steady_ = 1; }
  /// The round trip has jumped, and stays where it is.
  [[nodiscard]] bool path_seems_longer() const { return jumped_to_ && steady_rounds_ >= kSteadyRounds; }
  /// The rate of a beginning grows no more.
  [[nodiscard]] bool startup_stalls() const { return startup_rate_.stalls(); }
  /// Even the quickest of the recent packets were later than the least round trip allows for.
  [[nodiscard]] bool queue_shows() const;
  /// They were so by more than what trains and hosts may add: it is there to stay, and whoever speaks waits for it.
  [[nodiscard]] bool queue_lingers() const;
  /// Even the quickest of the recent packets waited for long.
  [[nodiscard]] bool queue_stands() const;
  /// In this very round trip, by enough samples, whatever the last one was like.
  [[nodiscard]] bool queue_builds() const;
  /// Packets of the last round trip were lost while a queue stood.
  [[nodiscard]] bool queue_overflowed() const { return queue_stands() && rounds_.last().lost_bytes > 0; }

 private:
  static constexpr unsigned kProbesUntilSteady = 3;  // measured: ADR-0062: with 6 twenty of us share less evenly
  static constexpr unsigned kJumpRounds = 16;        // guess: a probe, and what it takes until its queue is gone
  static constexpr unsigned kSteadyRounds = 3;       // guess: a queue that others fill has moved on by then
  // measured: ADR-0059: with 0.9 shares converge half as fast, with 0.8 a twentieth of the path is unused
  static constexpr double kKeptShare = 0.85;

  [[nodiscard]] bool unexplained(const RoundTrip& round) const;
  [[nodiscard]] bool queued(std::optional<Duration> rtt) const;
  [[nodiscard]] bool congestion(std::uint64_t lost_bytes, std::uint64_t of_bytes) const;
  void on_round_trip(const AckEvent& ack, std::uint64_t window_bytes);
  void update_bandwidth(const RateSample& sample);
  void lower_short_term(std::uint64_t window_bytes);
  void tell_loss_apart(const AckEvent& ack);
  /// The path takes no more than the pace, less what `round` lost of it.
  void take_delivery_for_bandwidth(const RoundTrip& round);
  void watch_length();
  void watch_rate(const AckEvent& ack);

  std::size_t payload_bytes_;
  RoundTrips rounds_;
  MinRtt min_rtt_;
  AckAggregation aggregation_;
  RecentMax<BitRate> max_bandwidth_;
  StartupRate startup_rate_;
  Phase phase_;  // at the last ACK
  PathLoss path_loss_;
  unsigned hopeless_rounds_ = 0;  // in a row
  RateFall rate_fall_;
  unsigned probes_until_steady_ = 0;  // to find no more, until rate_varies() ends
  BitRate before_probe_;              // max_bandwidth() at its start
  std::optional<BitRate> fallen_from_;
  TimePoint fallen_at_{};
  std::optional<Duration> last_rtt_;   // min_rtt of the last round trip
  std::optional<Duration> jumped_to_;  // min_rtt of the first that took much longer than the one before
  unsigned rounds_since_jump_ = 0;
  Duration steady_rtt_{0};      // from which steady_rounds_ round trips differ by a kSteadyPart at most
  unsigned steady_rounds_ = 0;  // in a row
  BitRate short_term_bandwidth_ = BitRate::from_bits_per_second(kUnbounded);
  std::uint64_t short_term_bytes_ = kUnbounded;
};

}  // namespace udtcat::transport::native
