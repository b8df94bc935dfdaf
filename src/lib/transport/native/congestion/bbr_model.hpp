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
#include "lib/transport/native/congestion/rate_drop.hpp"
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
  /// After a silence of the path the minimum is kept for another term: silence is no sign of a longer path.
  void confirm(TimePoint now);
  /// A round trip with half a bandwidth-delay product in flight, so without a queue of this flow.
  void replace(TimePoint now, Duration rtt);

  [[nodiscard]] std::optional<Duration> value() const { return least_.value; }
  /// At the last update: no sample of the last five seconds was near the minimum.
  [[nodiscard]] bool probe_due() const { return probe_due_; }
  /// How long ago a sample was last near the minimum.
  [[nodiscard]] Duration unconfirmed(TimePoint now) const { return least_.value ? now - least_.time : Duration{0}; }

 private:
  struct Least {
    std::optional<Duration> value;
    TimePoint time;

    [[nodiscard]] bool expired(TimePoint now, Duration lifetime) const { return value && now > time + lifetime; }
    void offer(TimePoint now, Duration rtt);
  };

  Least recent_;  // decides when to probe
  Least least_;   // the minimum; kept longer, so that a probe comes before it expires
  bool probe_due_ = false;
};

/// ACK aggregation: how much more than the path's rate is acknowledged at once. So much must be in flight beyond the
/// bandwidth-delay product for the path to stay busy between two ACKs.
/// source: draft-ietf-ccwg-bbr, "BBR.extra_acked: Estimating the ACK Aggregation"
/// Threads: unsynchronised; time is a parameter.
class AckAggregation {
 public:
  /// bandwidth      what the path is thought to carry
  /// window_bytes   the most that one ACK may acknowledge
  void on_ack(TimePoint now, std::uint64_t newly_delivered_bytes, BitRate bandwidth, std::uint64_t window_bytes);
  void on_round_trip(bool starting);
  /// Nothing was in flight: the time until the next ACK does not count.
  void restart(TimePoint now);

  [[nodiscard]] std::uint64_t extra_bytes() const { return extra_.value(); }

 private:
  TimePoint interval_start_;
  std::uint64_t interval_delivered_bytes_ = 0;
  RecentMax<std::uint64_t> extra_;
  unsigned rounds_ = 0;  // of the filter's present period
};

/// The fastest delivery during startup, measured over parts of a round trip: a sample of a whole round trip includes
/// the smaller flight before.
///
/// Deviates from the draft, which has samples of whole round trips only.
/// Threads: unsynchronised; time is a parameter.
class StartupRate {
 public:
  void on_ack(const AckEvent& ack, Duration min_rtt);
  [[nodiscard]] BitRate value() const { return value_; }
  /// The rate has not grown by a quarter in three quarters of a round trip.
  [[nodiscard]] bool stalls() const { return parts_without_growth_ >= kStalledParts; }

 private:
  static constexpr unsigned kStalledParts = 3;  // guess: one or two may be a host's delay
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
    bool starting = false;   ///< the pipe has not been full yet
    bool own_queue = false;  ///< the queue may be this flow's own: bounds are not lowered
    bool probing = false;    ///< sending more than the path is known to carry, or about to
    bool draining = false;   ///< sending less, until what the startup put into the queue is gone
    bool steady = false;     ///< sending what the path is known to carry; all of the last probe is acknowledged
    bool unresponsive_flows = false;  ///< other flows do not give way: a queue is no reason for this one to
  };
  /// Whether a new round trip begins with this ACK.
  [[nodiscard]] bool on_ack(const AckEvent& ack, Phase phase, std::uint64_t window_bytes);
  void on_loss(const LossEvent& event) { rounds_.on_loss(event); }
  void on_packet_size(std::size_t payload_bytes) { payload_bytes_ = payload_bytes; }
  /// There was nothing to send, and nothing is in flight.
  void on_idle(TimePoint now) { aggregation_.restart(now); }
  /// Nothing was delivered for a while. Round trip and bandwidth are kept.
  void on_silence(TimePoint now);

  void restart_round() { rounds_.restart(); }
  void end_bandwidth_cycle() { max_bandwidth_.advance(); }
  void on_probe_start();
  void on_probe_end();
  void forget_short_term();
  /// The last round trips had no queue: they show what the path carries.
  void accept_rtt(TimePoint now);
  /// Leaves room for other flows: the bandwidth is taken for a part of what it was, until a probe shows more.
  void give_back() { max_bandwidth_.scale(kKeptShare); }

  [[nodiscard]] BitRate max_bandwidth() const {
    return phase_.starting ? std::max(max_bandwidth_.value(), startup_rate_.value()) : max_bandwidth_.value();
  }
  [[nodiscard]] BitRate bandwidth() const { return std::min(max_bandwidth(), short_term_bandwidth_); }
  /// The rate to send at for `delivered` to arrive in spite of random loss. With a queue it is no more than
  /// `delivered`.
  [[nodiscard]] BitRate sent_for(BitRate delivered) const {
    return queue_shows() ? delivered : scaled(delivered, 1 / (1 - path_loss_.value()));
  }
  [[nodiscard]] std::uint64_t short_term_bytes() const { return short_term_bytes_; }
  [[nodiscard]] std::uint64_t extra_acked_bytes() const;
  [[nodiscard]] const MinRtt& min_rtt() const { return min_rtt_; }
  [[nodiscard]] const RoundTrip& last_round() const { return rounds_.last(); }
  /// So far, at the last ACK.
  [[nodiscard]] const RoundTrip& present_round() const { return rounds_.present(); }
  /// The hosts add more to the round trip than the path between them: see bdp_bytes().
  [[nodiscard]] bool host_bound() const;

  /// Zero without a sample.
  [[nodiscard]] std::uint64_t bdp_bytes(BitRate bandwidth) const;
  /// Of the flight of this sample more was lost than random loss explains.
  [[nodiscard]] bool in_flight_too_high(const RateSample& sample) const;
  /// More than half of `round` was lost: the pace is too fast, whatever the cause.
  [[nodiscard]] bool loses_hopelessly(const RoundTrip& round) const;
  /// A trial of PathLoss: the pace is to be kTrialGain of what it was.
  [[nodiscard]] bool tries_slower() const { return path_loss_.trying(); }
  /// Loss without a queue is not explained yet.
  [[nodiscard]] bool doubts_loss() const { return path_loss_.busy(); }
  /// The loss may be that of a queue that was full from the beginning.
  [[nodiscard]] bool wants_rtt() const { return path_loss_.wants_rtt(); }
  /// More of the last round trip was lost than the path is known to lose.
  [[nodiscard]] bool loses_unexplained() const { return unexplained(rounds_.last()); }
  void on_rtt_probed(TimePoint now) { path_loss_.on_rtt_probed(now); }
  /// The path carried more a while ago.
  [[nodiscard]] bool rate_has_fallen() const { return fallen_from_.has_value(); }
  /// The path's rate has changed, and fewer than kProbesUntilSteady probes have found it the same since.
  [[nodiscard]] bool rate_varies() const { return probes_until_steady_ > 0 || rate_has_fallen(); }
  /// The startup may have ended while a varying rate was low: one early probe shows.
  void on_startup_drained() { probes_until_steady_ = 1; }
  /// The round trip has become longer at once, and stays so: the path has changed.
  [[nodiscard]] bool path_seems_longer() const { return jumped_to_ && steady_rounds_ >= kSteadyRounds; }
  /// In startup the rate has stopped growing.
  [[nodiscard]] bool startup_stalls() const { return startup_rate_.stalls(); }
  /// The least of the recent round trips is above the minimum: there is a queue.
  [[nodiscard]] bool queue_shows() const;
  /// The least of the recent round trips is above the minimum by more than trains and hosts add: the queue stands, and
  /// adds to the latency of every packet.
  [[nodiscard]] bool queue_lingers() const;
  /// Even the quickest of the recent packets waited for long.
  [[nodiscard]] bool queue_stands() const;
  /// In the present round trip alone, by enough samples.
  [[nodiscard]] bool queue_builds() const;
  /// Packets of the last round trip were lost while a queue stood.
  [[nodiscard]] bool queue_overflowed() const { return queue_stands() && rounds_.last().lost_bytes > 0; }

 private:
  static constexpr unsigned kProbesUntilSteady = 3;  // measured: ADR-0062: with 6 twenty of us share less evenly
  static constexpr unsigned kJumpRounds = 16;        // guess: a probe, and the time until its queue is gone
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
  /// The path carries at most the pace, less what `round` lost.
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
  RateDrop rate_drop_;
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
