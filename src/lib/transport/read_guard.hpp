// SPDX-License-Identifier: Apache-2.0
/// The lock on a reader's memory, where a channel of one thread reads for a user on another.
#pragma once

#include <functional>
#include <memory>

#include "lib/core/mutex.hpp"

namespace udtcat::transport {

/// A channel fills the memory of a read while it holds this; once it is shut the memory may be gone.
/// Threads: internally synchronised.
class ReadGuard {
 public:
  /// Calls `fill` unless it is shut.
  template <typename Fill>
  void fill(const Fill& fill) {
    const core::MutexLock lock(mutex_);
    if (!shut_) fill();
  }
  /// Waits for a copy that is being made, and for nothing else.
  void shut() {
    const core::MutexLock lock(mutex_);
    shut_ = true;
  }

 private:
  core::Mutex mutex_;
  bool shut_ UDTCAT_GUARDED_BY(mutex_) = false;
};

/// A channel's user on another thread, as the channel knows it; see ThreadChannel.
struct FarUser {
  std::shared_ptr<ReadGuard> memory;
  std::function<void()> on_event;  ///< packets came or left, or the connection has ended; on the channel's thread
};

}  // namespace udtcat::transport
