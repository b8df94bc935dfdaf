// SPDX-License-Identifier: Apache-2.0
/// When the next train may leave.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A leaky bucket at the pacing rate. A train leaves whole, and the next one waits for the time that it took at that
/// rate. A driver that wakes late catches up, if there was something to send meanwhile: on a busy host congestion
/// control would else take the rate that late wake-ups allow for the path's, and each rate so found would lower the
/// next (ADR-0047).
/// Threads: unsynchronised; time is a parameter.
class Pacer {
 public:
  static constexpr Duration kCatchUp =
      std::chrono::milliseconds(30);  // guess: eight other threads run first, a quantum each
  static constexpr Duration kCatchUpAfterIdle =
      std::chrono::milliseconds(2);  // guess: how late an idle machine wakes a thread
  static constexpr Duration kGrain =
      std::chrono::microseconds(100);  // measured: ADR-0012: finer wake-ups cost more than they smooth
  static constexpr Duration kTrainTime = std::chrono::milliseconds(1);  // spec: draft-ietf-ccwg-bbr, send quantum
  static constexpr std::size_t kLeastTrainPackets = 2;                  // spec: draft-ietf-ccwg-bbr, send quantum
  static constexpr std::uint64_t kSlowBytesPerSecond = 150'000;         // spec: the same: one packet there
  // Trains on a slow path are longer, within these bounds: each costs a wake-up at both ends.
  static constexpr Duration kSlowTrainTime = std::chrono::milliseconds(4);  // guess: every queue holds so much
  static constexpr std::size_t kSlowTrainPackets = 32;  // guess: 48 kB, half of what the queue of a slow path holds

  static constexpr int kCatchUpPart = 15;  // guess: a sixteenth faster than the pace: a queue of 1 ms fills in 15 ms

  static constexpr Duration kAhead = 2 * kCatchUpAfterIdle;  // guess: an idle machine that is late twice in a row

  /// Payload bytes a second; 0: not paced.
  void set_rate(std::uint64_t bytes_per_second) { bytes_per_second_ = bytes_per_second; }

  [[nodiscard]] bool ready(TimePoint now) const { return bytes_per_second_ == 0 || free_at() <= now; }
  /// When to ask ready() again: a little late, so that several trains leave in one turn of the event loop.
  [[nodiscard]] TimePoint deadline(TimePoint now) const { return std::max(free_at(), now + kGrain); }
  /// The path's queue takes trains of so much time at the pacing rate and no longer: catching up, one leaves at once,
  /// the others a little faster than the pace. Duration::max(): no such limit.
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
  /// There is something to send. The idle time is not caught up; the time that was missed before is, where the idle
  /// time was so short that the writer only refilled the queue.
  void on_work(TimePoint now) {
    if (!idle_since_) return;
    const bool is_refilled = now - *idle_since_ <= kCatchUpAfterIdle;
    const Duration missed = is_refilled ? *idle_since_ - free_at_ : Duration(0);
    free_at_ = std::max(free_at_, now - std::clamp(missed, kCatchUpAfterIdle, kCatchUp));
    idle_since_.reset();
  }
  /// The path has gone silent: the next train does not wait for the time that earlier ones took.
  void forget_debt(TimePoint now) { free_at_ = burst_free_at_ = std::min(free_at_, now); }
  /// The longest train, in bytes.
  [[nodiscard]] std::size_t train_bytes(std::size_t packet_bytes) const {
    if (bytes_per_second_ == 0) return SIZE_MAX;
    const std::size_t slow = std::min(bytes_in(kSlowTrainTime), kSlowTrainPackets * packet_bytes);
    const std::size_t queue_takes = longest_train_ == Duration::max() ? SIZE_MAX : bytes_in(longest_train_);
    const std::size_t least_packets = bytes_per_second_ < kSlowBytesPerSecond ? 1 : kLeastTrainPackets;
    return std::max(std::min(std::max(bytes_in(kTrainTime), slow), queue_takes), least_packets * packet_bytes);
  }
  /// How long so many bytes take at the pacing rate; Duration::zero(): not paced.
  [[nodiscard]] Duration paced_time(std::size_t bytes) const {
    return bytes_per_second_ == 0 ? Duration::zero() : time_of(bytes);
  }
  /// Bytes to have ready for the next trains: one train, and what is caught up after a late wake-up.
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
  TimePoint
      burst_free_at_{};  // of a second bucket, for limit_trains(): as large as a train, a little faster than the pace
  Duration longest_train_ = Duration::max();
  std::optional<TimePoint> idle_since_ = TimePoint{};  // none: there is something to send
};

}  // namespace udtcat::transport::native
