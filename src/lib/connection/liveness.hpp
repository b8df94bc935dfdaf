/// Decides when to say "still here", and when the peer no longer is. See docs/spec/stream.md §5 and ADR-0007.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace udtcat::connection {

inline constexpr auto kPingInterval = std::chrono::seconds(1);        // spec: stream.md §5
inline constexpr auto kQuietAfter = std::chrono::milliseconds(2500);  // spec: stream.md §5
inline constexpr auto kQuietPingInterval = std::chrono::seconds(2);   // spec: stream.md §5
inline constexpr auto kPortClosedSilence = std::chrono::seconds(3);   // spec: stream.md §5
inline constexpr auto kLivenessTick =
    std::chrono::milliseconds(250);  // guess: a quarter of the ping interval; four wake-ups a second idle

inline constexpr auto kMissedTicks = std::chrono::seconds(2);  // guess: eight ticks

/// Threads: unsynchronised. No clock: time is a parameter.
class Liveness {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Verdict { alive, timed_out, port_closed };

  Liveness(std::chrono::milliseconds idle_timeout, TimePoint now)
      : idle_timeout_(idle_timeout), last_heard_(now), last_sent_(now), last_tick_(now) {}

  /// Call every kLivenessTick. Time in which this process did not run (stopped, host suspended) is not the peer's
  /// silence.
  void on_tick(TimePoint now) {
    if (now - last_tick_ > kMissedTicks) last_heard_ += now - last_tick_;
    last_tick_ = now;
  }

  /// `total` bytes have come so far that bring the peer's next record nearer, authenticated or not: a slow path must
  /// not look like a dead one.
  void on_bytes_received(std::uint64_t total_bytes, TimePoint now) {
    if (total_bytes == received_bytes_) return;
    received_bytes_ = total_bytes;
    last_heard_ = now;
  }
  void on_sent(TimePoint now) { last_sent_ = now; }

  [[nodiscard]] Verdict verdict(TimePoint now, std::optional<TimePoint> port_closed_since) const {
    const auto silence = now - last_heard_;
    if (port_closed_since && silence >= kPortClosedSilence) return Verdict::port_closed;
    return silence >= idle_timeout_ ? Verdict::timed_out : Verdict::alive;
  }
  /// Nothing has come for so long that data is held back.
  [[nodiscard]] bool quiet(TimePoint now) const { return now - last_heard_ >= kQuietAfter; }
  [[nodiscard]] bool ping_due(TimePoint now) const {
    return now - last_sent_ >= (quiet(now) ? kQuietPingInterval : kPingInterval);
  }
  [[nodiscard]] std::chrono::milliseconds silence(TimePoint now) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - last_heard_);
  }

 private:
  const std::chrono::milliseconds idle_timeout_;
  TimePoint last_heard_;
  TimePoint last_sent_;
  TimePoint last_tick_;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace udtcat::connection
