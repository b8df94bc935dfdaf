// SPDX-License-Identifier: Apache-2.0
/// How much of what is sent the path loses by itself, at any pace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

/// Loss that comes without a queue is chance's, a policer's, or that of a queue too short to be seen. Of a slower flow
/// chance takes the same share, the others less or nothing. So a flow that loses more than is known of the path sends
/// what arrives of it, first, which is right where the pace was too fast. If as much is lost then, it looks for the empty
/// path's round trip, as a queue that was full from the beginning is none to be seen; and sends for some round trips at
/// three quarters of its pace. Flows of one host do all this at common moments of its clock: what many of them lose to
/// each other would look like chance to each.
///
///   known ──more is lost──► doubting ──round trip──► watching ──as much is lost, no queue is found──► settling
///     ▲ ▲                                               │                                                │ round trip
///     │ └─────────────────────no more is lost───────────┘                                                ▼
///     └───────────────────────────────────it can be told─────────────────────────────────────────── comparing
///   any ──cancel(): a queue, a probe, nothing to send──► known
///
/// Threads: unsynchronised.
class PathLoss {
 public:
  PathLoss();

  static constexpr double kTrialGain = 0.75;  // spec: BBRv1's gain that drains what a probe of 1.25 has put there
  static constexpr double kHopeless = 0.5;    // guess: a pace at which half is lost is too fast, whatever the cause

  enum class Verdict {
    none,
    doubt,   ///< the pace may be too fast: carried() arrives of it
    chance,  ///< the path loses so much by itself, and more is to be sent for as much to arrive
    excess   ///< the pace was too fast: carried() is what the path takes
  };

  /// A round trip ended in which no queue stood, and of which all was sent at the pace of the model, times
  /// kTrialGain while trying().
  Verdict on_round_trip(TimePoint now, const RoundTrip& round, std::size_t payload_bytes);
  /// returns   whether something was in doubt
  bool cancel();
  /// A round trip ended that says nothing.
  void skip() { begin_sums(); }
  /// What is sent from now on may be more than before, when the path carried `before`: if more is lost then, a trial is
  /// not needed to see why.
  void on_probe(BitRate before) { unproven_from_ = before; }

  /// The pace, and what is in flight, are to be kTrialGain of what they were.
  [[nodiscard]] bool trying() const { return state_ == State::settling || state_ == State::comparing; }
  /// Part of what is sent.
  [[nodiscard]] double value() const { return value_; }
  /// A look for the empty path's round trip would help.
  [[nodiscard]] bool wants_rtt() const { return state_ == State::watching && rtt_probed_at_ < watched_since_; }
  void on_rtt_probed(TimePoint now) { rtt_probed_at_ = now; }
  /// Bandwidth is not to be probed for now.
  [[nodiscard]] bool busy() const { return state_ != State::known; }
  /// So much of `of_bytes` may be lost by chance.
  [[nodiscard]] std::uint64_t tolerated_bytes(std::uint64_t of_bytes, std::size_t payload_bytes) const;
  [[nodiscard]] BitRate carried() const { return carried_; }

 private:
  enum class State { known, doubting, watching, settling, comparing };

  void begin_sums();
  void note_runs(const RoundTrip& round, std::size_t payload_bytes);
  [[nodiscard]] bool significantly_less(std::size_t payload_bytes) const;
  Verdict watch(bool exceeded, std::size_t payload_bytes);
  Verdict weigh(TimePoint now, bool exceeded);
  void learn(double loss);
  Verdict judge(std::size_t payload_bytes);

  State state_ = State::known;
  double value_ = 0;
  double run_packets_ = 2;  // lost in a row, as a rule: more of them tell less of chance. guess, at first
  double found_ = 0;        // by the last trial
  RoundTrip before_;        // the sums that began the trial
  RoundTrip sums_;          // of some round trips: enough packets to tell their loss
  unsigned summed_rounds_ = 0;
  TimePoint watched_since_{};
  TimePoint rtt_probed_at_{};
  unsigned rest_rounds_ = 0;  // until another trial may begin
  unsigned next_rest_;
  BitRate carried_;
  std::optional<BitRate> unproven_from_;
};

}  // namespace udtcat::transport::native
