// SPDX-License-Identifier: Apache-2.0
/// Decides when to say "still here", and when the peer no longer is. See docs/spec/stream.md §5 and ADR-0007.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

namespace udtcat::connection {

inline constexpr auto kPingInterval = std::chrono::seconds(1);         // spec: stream.md §5
inline constexpr auto kIdleAfter = std::chrono::seconds(10);           // spec: stream.md §5
inline constexpr auto kIdlePingInterval = std::chrono::seconds(5);     // spec: stream.md §5
inline constexpr int kIdlePings = 8;                                   // spec: stream.md §5: within the idle timeout
inline constexpr auto kQuietAfter = std::chrono::milliseconds(2500);   // spec: stream.md §5
inline constexpr auto kQuietPingInterval = std::chrono::seconds(2);    // spec: stream.md §5
inline constexpr auto kPortClosedSilence = std::chrono::seconds(3);    // spec: stream.md §5
inline constexpr auto kLivenessTick = std::chrono::milliseconds(250);  // guess: a quarter of the ping interval

inline constexpr std::uint64_t kLittleBytes = 1024;            // guess: many PINGs and PONGs
inline constexpr auto kMissedTicks = std::chrono::seconds(2);  // guess: later than a busy machine is

/// Threads: unsynchronised. No clock: time is a parameter.
class Liveness {
 public:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;
  enum class State { alive, timed_out, port_closed };

  /// The end that leads says the first word into a silence: two that did it at once would both say it, ever again.
  enum class Role { leads, follows };

  Liveness(std::chrono::milliseconds idle_timeout, Role turn, TimePoint now)
      : idle_timeout_(idle_timeout),
        turn_(turn),
        last_heard_(now),
        last_sent_(now),
        last_payload_(now),
        last_tick_(now),
        next_tick_(now) {}

  /// Call at next_tick(). Time in which this process did not run (stopped, host suspended) is not the peer's silence.
  void on_tick(TimePoint now) {
    if (now - next_tick_ > std::min<Clock::duration>(kMissedTicks, idle_timeout_ / 2)) {
      last_heard_ += now - last_tick_;
      if (asked_at_) asked_at_ = std::min(now, *asked_at_ + (now - last_tick_));
    }
    last_tick_ = now;
  }
  /// When to look again. While nothing moves that is when there is something to say, or when the peer should have.
  [[nodiscard]] TimePoint next_tick(TimePoint now) {
    TimePoint due = last_sent_ + ping_interval(now);
    if (asked_at_) due = std::min(due, *asked_at_ + kQuietAfter);
    const TimePoint soon = now + kLivenessTick;
    const bool moving = now - last_payload_ < kPingInterval;
    return next_tick_ = moving || quiet(now) ? soon : std::max(due, soon);
  }

  /// `total` bytes have come so far that bring the peer's next record nearer, authenticated or not: a slow path must
  /// not look like a dead one.
  void on_bytes_received(std::uint64_t total_bytes, TimePoint now) {
    if (total_bytes == received_bytes_) return;
    // Data that arrives slowly is activity.
    if (total_bytes - received_bytes_ > kLittleBytes) std::ignore = on_payload(now);
    received_bytes_ = total_bytes;
    last_heard_ = now;
    asked_at_.reset();
  }
  void on_sent(TimePoint now) { last_sent_ = now; }
  /// Sent something that a peer answers soon, or soon says something of its own after: PING, DATA.
  void on_asked(TimePoint now) {
    if (!asked_at_) asked_at_ = now;
  }
  /// Bytes of a stream have moved, either way.  returns  whether the session was idle: next_tick() is earlier now
  [[nodiscard]] bool on_payload(TimePoint now) { return idle(now - std::exchange(last_payload_, now)); }

  [[nodiscard]] State state(TimePoint now, std::optional<TimePoint> port_closed_since) const {
    const auto silence = now - last_heard_;
    if (port_closed_since && silence >= kPortClosedSilence && quiet(now)) return State::port_closed;
    return silence >= idle_timeout_ ? State::timed_out : State::alive;
  }
  /// Nothing has come in answer for so long that data is held back.
  [[nodiscard]] bool quiet(TimePoint now) const { return unanswered(now) >= kQuietAfter; }
  /// How long the peer has owed an answer.
  [[nodiscard]] Clock::duration unanswered(TimePoint now) const {
    return asked_at_ ? now - *asked_at_ : Clock::duration(0);
  }
  [[nodiscard]] bool ping_due(TimePoint now) const { return now - last_sent_ >= ping_interval(now); }
  [[nodiscard]] std::chrono::milliseconds silence(TimePoint now) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - last_heard_);
  }

 private:
  [[nodiscard]] static bool idle(Clock::duration without_payload) { return without_payload >= kIdleAfter; }
  [[nodiscard]] std::chrono::milliseconds ping_interval(TimePoint now) const {
    if (quiet(now)) return kQuietPingInterval;
    const std::chrono::milliseconds later = turn_ == Role::follows ? kLivenessTick : std::chrono::milliseconds(0);
    if (!idle(now - last_payload_)) return kPingInterval + later;
    return later + std::clamp<std::chrono::milliseconds>(idle_timeout_ / kIdlePings, kPingInterval, kIdlePingInterval);
  }

  const std::chrono::milliseconds idle_timeout_;
  const Role turn_;
  TimePoint last_heard_;
  TimePoint last_sent_;
  std::optional<TimePoint> asked_at_;  // first, since something was heard
  TimePoint last_payload_;
  TimePoint last_tick_;
  TimePoint next_tick_;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace udtcat::connection
