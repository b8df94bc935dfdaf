// SPDX-License-Identifier: Apache-2.0
/// The random loss of a path: the share that it loses at any pace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

/// Loss without a queue has three causes: random loss, a policer, or a queue too short to be seen. At a slower pace
/// random loss has the same share; the others less, or none. So a flow that loses more than is known of the path
///   1. sends at the rate that arrived, which ends the loss where the pace was too fast;
///   2. if as much is lost, probes the minimum round trip: it may have been that of a full queue;
///   3. if there was no queue, sends at three quarters of that pace for some round trips, and compares.
/// Flows of one host probe at the same moments (ProbeRttSchedule), and compare at the same time: losses that they cause
/// to each other would else look random.
///
///   known ──more is lost (doubt)──► doubting ──round trip──► watching ──as much is lost, rtt probed──► slowing
///     ▲ ▲                                                       │                                         │ round trip
///     │ └──────────────────less is lost (excess)────────────────┘                                         ▼
///     └───────────────────────────────told apart (chance or excess)─────────────────────────────────── comparing
///   known ──more is lost after a probe (excess)──► known
///   any ──cancel(): a queue, a probe, nothing to send, a host too slow, trains too long──► known
///
/// Threads: unsynchronised.
class PathLoss {
 public:
  PathLoss();

  static constexpr double kTrialGain = 0.75;  // spec: BBRv1's gain that drains what a probe of 1.25 has put there

  enum class Diagnosis {
    none,
    doubt,   ///< the pace may be too fast: carried() arrives of it
    chance,  ///< the loss is random, and more is to be sent for as much to arrive
    excess   ///< the pace was too fast: carried() is what the path takes
  };

  /// A round trip without a queue has ended, of which all was sent at the pace of the model, times kTrialGain while
  /// trying().
  /// bandwidth       the delivery rate that was paced for
  /// payload_bytes   of a full packet
  /// returns         what it shows; with doubt and excess see carried()
  Diagnosis on_round_trip(TimePoint now, const RoundTrip& round, BitRate bandwidth, std::size_t payload_bytes);
  /// returns   whether something was in doubt
  bool cancel();
  /// After a silence, whose losses are found for some round trips.
  void on_silence();
  /// A round trip has ended that does not count.
  void skip() { begin_sums(); }
  /// A probe for bandwidth begins, and the path carried `before`: if more is lost from now on, the probe is the cause.
  void on_probe(BitRate before) { before_probe_ = before; }

  /// The pace and the flight are to be kTrialGain of what they were.
  [[nodiscard]] bool trying() const { return state_ == State::slowing || state_ == State::comparing; }
  /// The random loss, 0 to 1.
  [[nodiscard]] double value() const { return value_; }
  /// A probe of the minimum round trip would help.
  [[nodiscard]] bool wants_rtt() const { return state_ == State::watching && rtt_probed_at_ < doubted_at_; }
  void on_rtt_probed(TimePoint now) { rtt_probed_at_ = now; }
  /// Bandwidth is not to be probed for now.
  [[nodiscard]] bool busy() const { return state_ != State::known; }
  /// The most of `of_bytes` that may be random loss.
  [[nodiscard]] std::uint64_t tolerated_bytes(std::uint64_t of_bytes, std::size_t payload_bytes) const;
  [[nodiscard]] BitRate carried() const { return carried_; }
  /// The rate that the path delivered of `sums`, which were paced for `bandwidth`; pauses of the sender do not count.
  [[nodiscard]] BitRate delivery_rate(const RoundTrip& sums, BitRate bandwidth) const;

 private:
  enum class State { known, doubting, watching, slowing, comparing };

  void begin_sums();
  void rest();
  [[nodiscard]] std::uint64_t bytes_to_judge(std::size_t payload_bytes) const;
  void note_runs(const RoundTrip& round, std::size_t payload_bytes);
  [[nodiscard]] bool significantly_less(std::size_t payload_bytes) const;
  Diagnosis watch(bool exceeded, std::size_t payload_bytes);
  Diagnosis weigh(TimePoint now, bool exceeded, BitRate bandwidth);
  void learn(double loss);
  Diagnosis judge(std::size_t payload_bytes);

  State state_ = State::known;
  double value_ = 0;
  double run_packets_ = 2;  // lost in a row, as a rule: losses in runs scatter more. guess, at first
  double found_ = 0;        // value() by the last trial
  RoundTrip before_;        // sums that were doubted, then those at the full pace of the trial
  RoundTrip sums_;          // of some round trips: enough packets to tell their loss
  unsigned summed_rounds_ = 0;
  TimePoint doubted_at_{};
  TimePoint rtt_probed_at_{};
  unsigned rest_rounds_ = 0;  // until another trial may begin
  unsigned next_rest_;
  BitRate carried_;
  std::optional<BitRate> before_probe_;  // what the path carried; none: there is no probe
};

}  // namespace udtcat::transport::native
