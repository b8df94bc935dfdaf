// SPDX-License-Identifier: Apache-2.0
/// Clocks for EndStats: the reason that stands, and the time for which something goes on.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <udtcat/stats.hpp>

namespace udtcat::core {

/// As Linux's tcp_chrono: one reason at a time, and what has passed is charged when it changes.
/// Threads: unsynchronised; time is a parameter.
class StallClock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// reason   from now on; none: the time is another's to charge
  void set(TimePoint now, std::optional<StallReason> reason) {
    const auto passed = now - std::exchange(since_, now);
    if (reason_) sums_[static_cast<std::size_t>(*reason_)] += passed;
    reason_ = reason;
  }
  [[nodiscard]] std::optional<StallReason> reason() const { return reason_; }
  /// Adds the sums until now, the present one included.
  void add_to(EndStats& end, TimePoint now) const {
    for (std::size_t i = 0; i < kStallReasons; ++i) {
      const auto present = reason_ == static_cast<StallReason>(i) ? now - since_ : TimePoint::duration::zero();
      end.stalled[i] += std::chrono::duration_cast<std::chrono::microseconds>(sums_[i] + present);
    }
  }

 private:
  std::optional<StallReason> reason_;
  TimePoint since_{};
  std::array<TimePoint::duration, kStallReasons> sums_{};
};

/// The time in which at least one of several goes on.
/// Threads: unsynchronised; time is a parameter.
class SpanClock {
 public:
  using TimePoint = StallClock::TimePoint;

  void begin(TimePoint now) {
    if (running_++ == 0) since_ = now;
  }
  /// One that has begun.
  void end(TimePoint now) {
    if (--running_ == 0) sum_ += now - since_;
  }
  [[nodiscard]] std::chrono::microseconds sum(TimePoint now) const {
    const auto present = running_ > 0 ? now - since_ : TimePoint::duration::zero();
    return std::chrono::duration_cast<std::chrono::microseconds>(sum_ + present);
  }

 private:
  std::size_t running_ = 0;
  TimePoint since_{};
  TimePoint::duration sum_{};
};

}  // namespace udtcat::core
