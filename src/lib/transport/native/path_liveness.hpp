// SPDX-License-Identifier: Apache-2.0
/// Whether the path in use carries packets both ways, known within a few round trips: docs/spec/udt4.md §9, "A
/// fallback".
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A peer answers data by ACK and ACK by ACK2; questions of their own are due while data move without these, and while
/// an answer is owed. Several in a row that get none, for longer than an answer takes, are a silence: on a path that
/// loses packets some have theirs.
/// Threads: unsynchronised; time is a parameter.
class PathLiveness {
 public:
  static constexpr std::size_t kLeastDataBytes =
      512;  // guess: what is smaller is a PING, a report, a key that was pressed

  explicit PathLiveness(TimePoint now) { restart(now); }

  /// Another path is in use.
  void restart(TimePoint now) {
    asked_ = 0;
    last_asked_at_ = now;
    data_at_ = now;
  }
  /// Data have come or left, of so many bytes.
  void on_data(TimePoint now, std::size_t bytes) {
    if (bytes >= kLeastDataBytes) data_at_ = now;
  }
  void on_asked(TimePoint now) {
    last_asked_at_ = now;
    if (asked_ == 0) asked_at_ = now;
    // Packets of one moment are lost together.
    if (asked_ > 0 && now - counted_at_ < kQuestionGap / 2) return;
    counted_at_ = now;
    ++asked_;
  }
  /// Data have left.
  void on_sent(TimePoint now, std::size_t bytes) {
    on_asked(now);
    on_data(now, bytes);
  }
  void on_answered() { asked_ = 0; }

  /// When a question is due; none: nobody wants to know.
  [[nodiscard]] std::optional<TimePoint> question_at(TimePoint now, Duration rtt) const {
    if (asked_ == 0 && now - data_at_ >= kDataTime) return std::nullopt;
    return last_asked_at_ + std::max(gap(rtt), unanswered(now) / 4);
  }
  /// rtt       smoothed
  /// timeout   an answer that takes longer is late
  [[nodiscard]] bool is_silent(TimePoint now, Duration rtt, Duration timeout) const {
    return asked_ >= kQuestions &&
           unanswered(now) >= std::max(std::clamp<Duration>(3 * rtt, kLeastSilence, kSilence), timeout);
  }

 private:
  static constexpr Duration kQuestionGap = std::chrono::milliseconds(100);   // guess: a third of kSilence
  static constexpr Duration kLeastSilence = std::chrono::milliseconds(200);  // guess: a host that is busy for a moment
  static constexpr Duration kSilence = std::chrono::milliseconds(300);       // guess: a user sees no stall yet
  static constexpr Duration kDataTime = std::chrono::seconds(1);             // guess: pauses of a transfer are shorter
  static constexpr std::size_t kQuestions = 3;                               // guess: at 20 % loss one in 20 times

  [[nodiscard]] static Duration gap(Duration rtt) { return std::max(kQuestionGap, rtt / 4); }
  [[nodiscard]] Duration unanswered(TimePoint now) const { return asked_ > 0 ? now - asked_at_ : Duration::zero(); }

  std::size_t asked_ = 0;   // times, since an answer
  TimePoint asked_at_{};    // the first of those
  TimePoint counted_at_{};  // the latest of those
  TimePoint last_asked_at_{};
  TimePoint data_at_{};
};

}  // namespace udtcat::transport::native
