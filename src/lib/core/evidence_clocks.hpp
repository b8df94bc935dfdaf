// SPDX-License-Identifier: Apache-2.0
/// Clocks for evidence: the reason that stands, and the time for which something goes on.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <udtcat/evidence.hpp>

namespace udtcat::core {

/// As Linux's tcp_chrono: one reason at a time, and what has passed is charged when it changes.
/// Threads: unsynchronised; time is a parameter.
class HoldClock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// why   from now on; none: the time is another's to charge
  void hold(TimePoint now, std::optional<Hold> why) {
    const auto passed = now - std::exchange(since_, now);
    if (why_) sums_[static_cast<std::size_t>(*why_)] += passed;
    why_ = why;
  }
  [[nodiscard]] std::optional<Hold> why() const { return why_; }
  /// Adds the sums until now, the present one included.
  void add_to(EndEvidence& evidence, TimePoint now) const {
    for (std::size_t i = 0; i < kHolds; ++i) {
      const auto present = why_ == static_cast<Hold>(i) ? now - since_ : TimePoint::duration::zero();
      evidence.held[i] += std::chrono::duration_cast<std::chrono::microseconds>(sums_[i] + present);
    }
  }

 private:
  std::optional<Hold> why_;
  TimePoint since_{};
  std::array<TimePoint::duration, kHolds> sums_{};
};

/// The time in which at least one of several goes on.
/// Threads: unsynchronised; time is a parameter.
class SpanClock {
 public:
  using TimePoint = HoldClock::TimePoint;

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
