// SPDX-License-Identifier: Apache-2.0
/// How long a train may be so that the queue of the path takes it whole.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A train leaves as one burst, and a queue shorter than that loses its end, at any pace. Chance, and a pace that is
/// too high for a queue of many trains, lose of all parts alike. So where the second halves of trains lose more than
/// the first ones, and no queue is seen in the round trip, trains are halved; and doubled again, for a try, after a
/// while. Each try that costs losses doubles the while.
/// Threads: unsynchronised; time is a parameter.
class TrainLength {
 public:
  static constexpr Duration kShortest = std::chrono::microseconds(250);  // measured: ADR-0058: half costs twice as much
  static constexpr int kEnoughLost = 32;    // guess: by chance 28 of 32 once in a hundred thousand
  static constexpr int kBehindToAhead = 7;  // guess: the same
  static constexpr Duration kFirstTry = std::chrono::seconds(10);  // guess: a path is what it is for so long
  static constexpr Duration kLastTry = std::chrono::minutes(10);   // guess: a try that fails costs a train

  /// The pace's worth of time that one train may have; Duration::max(): as long as they come.
  [[nodiscard]] Duration limit() const { return limit_; }

  /// A packet that was sent once, as part of a full train, is lost.
  /// train         the pace's worth of time that its train had
  /// behind_half   it was in the second half of it
  /// returns       whether trains are shorter from now on
  bool on_lost(TimePoint now, TimePoint sent_at, Duration train, bool behind_half) {
    // Trains that left before the last change say nothing of those after it.
    if (sent_at < changed_at_) return false;
    ++(behind_half ? lost_behind_ : lost_ahead_);
    if (lost_behind_ + lost_ahead_ < kEnoughLost) return false;
    const bool too_long = lost_behind_ >= kBehindToAhead * lost_ahead_;
    lost_behind_ = lost_ahead_ = 0;
    const Duration shorter = std::max<Duration>(std::min(limit_, train) / 2, kShortest);
    if (!too_long || shorter >= limit_) return false;
    if (trying_) wait_ = std::min<Duration>(2 * wait_, kLastTry);
    trying_ = false;
    change(now, shorter);
    return true;
  }

  /// longest   the pace's worth of time of the longest train there is
  void on_sent(TimePoint now, Duration longest) {
    if (limit_ == Duration::max() || now < changed_at_ + wait_) return;
    trying_ = true;
    change(now, 2 * limit_ >= longest ? Duration::max() : 2 * limit_);
  }

 private:
  void change(TimePoint now, Duration limit) {
    limit_ = limit;
    changed_at_ = now;
    lost_behind_ = lost_ahead_ = 0;
  }

  Duration limit_ = Duration::max();
  TimePoint changed_at_{};
  Duration wait_ = kFirstTry;
  bool trying_ = false;
  int lost_behind_ = 0;
  int lost_ahead_ = 0;
};

}  // namespace udtcat::transport::native
