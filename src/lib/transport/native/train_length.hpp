// SPDX-License-Identifier: Apache-2.0
/// How long a train may be for the bottleneck's queue to take it whole.
#pragma once

#include <algorithm>
#include <chrono>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A train leaves as one burst: a queue that is shorter drops the end of it, at any pace. Random loss, and a pace that
/// overflows a queue of many trains, hit all parts of a train alike. So where the second halves of trains lose more
/// than the first, and the round trip shows no queue, the limit is halved. After a while it is doubled, for a try; a
/// try that costs losses doubles the while.
/// Threads: unsynchronised; time is a parameter.
class TrainLength {
 public:
  static constexpr Duration kShortest = std::chrono::microseconds(250);  // measured: ADR-0058: half costs twice as much
  static constexpr int kEnoughLost = 32;    // guess: 28 of 32 in one half are chance once in a hundred thousand
  static constexpr int kBehindToAhead = 7;  // guess: 28 to 4, as above
  static constexpr Duration kFirstTry = std::chrono::seconds(10);  // guess: paths do not change sooner
  static constexpr Duration kLastTry = std::chrono::minutes(10);   // guess: a try that fails costs a train

  /// The longest train, as a time at the pacing rate; Duration::max(): no limit.
  [[nodiscard]] Duration limit() const { return limit_; }

  /// A packet is lost that was sent once, in a train of several.
  /// train         the length of that train, as a time at the pacing rate
  /// behind_half   the packet was in its second half
  /// returns       whether the limit is less from now on
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

  /// longest   of all trains there are without a limit, as a time at the pacing rate
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
