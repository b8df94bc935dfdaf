// SPDX-License-Identifier: Apache-2.0
/// The receiver's answers, from the thread that reads them to the one that sends.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

/// Threads: internally synchronised.
class Answers {
 public:
  // Full, by either: the receiver's stream waits.
  static constexpr std::size_t kMaxWaiting = 2 * kMaxUnsettled;  // guess: no honest receiver has more to say
  static constexpr std::size_t kMaxWaitingDigests = 1'048'576;   // guess: 32 MiB: of 1 TiB

  /// Waits for room. Failed waits for none, and what had come before it counts no more.
  /// returns  false: nobody takes any more
  [[nodiscard]] bool give(Message answer);
  /// No more will come.  error   none: the receiver has ended its direction in order
  void end(std::optional<Error> error);
  /// Waits for one.  errors: as Failed says; those of end(), which counts as one where more was to come
  [[nodiscard]] Result<Message> take();
  /// As Failed says; none: the receiver has not said so.
  [[nodiscard]] std::optional<Error> failure();
  [[nodiscard]] bool empty();
  /// Returns when so much time has passed, or the receiver has failed.
  void pause(std::chrono::nanoseconds time);
  /// Answers are not taken any more.
  void close();

 private:
  core::Mutex mutex_;
  core::Condition changed_;
  std::size_t digests_ UDTCAT_GUARDED_BY(mutex_) = 0;  // of those that wait
  std::deque<Message> waiting_ UDTCAT_GUARDED_BY(mutex_);
  std::optional<Error> over_ UDTCAT_GUARDED_BY(mutex_);
  bool has_failed_ UDTCAT_GUARDED_BY(mutex_) = false;  // over_ is the receiver's word
  bool closed_ UDTCAT_GUARDED_BY(mutex_) = false;
};

}  // namespace udtcat::trees
