// SPDX-License-Identifier: Apache-2.0
/// When the next train may leave.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A bucket that leaks at the pacing rate. Trains leave whole; the time they cost is paid afterwards. A driver that
/// wakes late catches up, as far as there was something to send meanwhile: on a host whose processors are busy a pace
/// that is lost with each late wake-up would pass for the path's, and each pace found so make the next one less
/// (ADR-0047).
/// Threads: unsynchronised; time is a parameter.
class Pacer {
 public:
  static constexpr Duration kCatchUp = std::chrono::milliseconds(30);  // guess: eight others go first, a quantum each
  static constexpr Duration kCatchUpAfterIdle = std::chrono::milliseconds(2);  // guess: how late an idle machine wakes
  static constexpr Duration kGrain =
      std::chrono::microseconds(100);  // measured: ADR-0012: finer wake-ups cost more than they smooth
  static constexpr Duration kTrainTime = std::chrono::milliseconds(1);  // spec: draft-ietf-ccwg-bbr, send quantum
  static constexpr std::size_t kLeastTrainPackets = 2;                  // spec: draft-ietf-ccwg-bbr, send quantum
  static constexpr std::uint64_t kSlowBytesPerSecond = 150'000;         // spec: the same: one packet there
  // A slow path has longer trains, as far as they are short: each is a wake-up at both ends.
  static constexpr Duration kSlowTrainTime = std::chrono::milliseconds(4);  // guess: what a queue anywhere holds
  static constexpr std::size_t kSlowTrainPackets = 32;  // guess: 48 kB, half of what the queue of a slow path holds

  static constexpr int kCatchUpPart = 15;  // guess: a sixteenth faster; a queue of 1 ms takes 15 ms of that

  static constexpr Duration kAhead = 2 * kCatchUpAfterIdle;  // guess: an idle machine that is late twice in a row

  /// Payload bytes a second; 0: not paced.
  void set_rate(std::uint64_t bytes_per_second) { bytes_per_second_ = bytes_per_second; }

  [[nodiscard]] bool ready(TimePoint now) const { return bytes_per_second_ == 0 || free_at() <= now; }
  /// When to look again, if not ready: a little late, so that several trains leave in one turn.
  [[nodiscard]] TimePoint deadline(TimePoint now) const { return std::max(free_at(), now + kGrain); }
  /// Trains are no longer than so much time of the pace, and of what was missed one leaves at once, the others by and
  /// by: the path's queue takes no more. Duration::max(): no such limit.
  void limit_trains(Duration time) {
    longest_train_ = time;
    if (time == Duration::max()) burst_free_at_ = TimePoint{};
  }
  void on_sent(TimePoint now, std::size_t bytes) {
    on_work(now);
    free_at_ = bytes_per_second_ == 0 ? now : std::max(free_at_, now - kCatchUp) + time_of(bytes);
    if (longest_train_ == Duration::max() || bytes_per_second_ == 0) return;
    burst_free_at_ =
        std::max(burst_free_at_, now - longest_train_) + time_of(bytes) * kCatchUpPart / (kCatchUpPart + 1);
  }
  /// There is nothing to send, or no window for it.
  void on_idle(TimePoint now) {
    if (!idle_since_) idle_since_ = now;
  }
  /// There is something to send: the time without is not caught up. What was missed before that is, if the queue was
  /// only refilled.
  void on_work(TimePoint now) {
    if (!idle_since_) return;
    const bool is_refilled = now - *idle_since_ <= kCatchUpAfterIdle;
    const Duration missed = is_refilled ? *idle_since_ - free_at_ : Duration(0);
    free_at_ = std::max(free_at_, now - std::clamp(missed, kCatchUpAfterIdle, kCatchUp));
    idle_since_.reset();
  }
  /// The path has gone silent: the time that earlier trains cost is not waited for.
  void forget_debt(TimePoint now) { free_at_ = burst_free_at_ = std::min(free_at_, now); }
  /// The longest train that is still a trickle and not a burst.
  [[nodiscard]] std::size_t train_bytes(std::size_t packet_bytes) const {
    if (bytes_per_second_ == 0) return SIZE_MAX;
    const std::size_t slow = std::min(bytes_in(kSlowTrainTime), kSlowTrainPackets * packet_bytes);
    const std::size_t queue_takes = longest_train_ == Duration::max() ? SIZE_MAX : bytes_in(longest_train_);
    const std::size_t least_packets = bytes_per_second_ < kSlowBytesPerSecond ? 1 : kLeastTrainPackets;
    return std::max(std::min(std::max(bytes_in(kTrainTime), slow), queue_takes), least_packets * packet_bytes);
  }
  /// How long the pace takes for so many bytes; Duration::zero(): not paced.
  [[nodiscard]] Duration paced_time(std::size_t bytes) const {
    return bytes_per_second_ == 0 ? Duration::zero() : time_of(bytes);
  }
  /// Bytes that the next trains take before more can be asked for: one train, and what a driver that wakes a little
  /// late catches up. One that wakes later asks for more within its turn.
  [[nodiscard]] std::uint64_t ahead_bytes(std::size_t packet_bytes) const {
    if (bytes_per_second_ == 0) return UINT64_MAX;
    return bytes_in(kAhead) + train_bytes(packet_bytes);
  }

 private:
  [[nodiscard]] std::size_t bytes_in(Duration time) const {
    return static_cast<std::size_t>(static_cast<double>(bytes_per_second_) *
                                    std::chrono::duration<double>(time).count());
  }
  [[nodiscard]] Duration time_of(std::size_t bytes) const {
    return Duration(
        static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(bytes_per_second_)));
  }

  [[nodiscard]] TimePoint free_at() const { return std::max(free_at_, burst_free_at_); }

  std::uint64_t bytes_per_second_ = 0;
  TimePoint free_at_{};
  TimePoint burst_free_at_{};  // of a second bucket, as small as a train and a little faster
  Duration longest_train_ = Duration::max();
  std::optional<TimePoint> idle_since_ = TimePoint{};  // none: there is something to send
};

}  // namespace udtcat::transport::native
