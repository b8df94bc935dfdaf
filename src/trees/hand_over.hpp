// SPDX-License-Identifier: Apache-2.0
/// Hands things from one thread to another, in order.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "lib/core/mutex.hpp"

namespace udtcat::trees {

/// Threads: internally synchronised.
template <typename Thing>
class HandOver {
 public:
  /// capacity   full: give() waits
  explicit HandOver(std::size_t capacity) : capacity_(capacity) {}

  /// returns  false: it was closed
  bool give(Thing thing) {
    const core::MutexLock lock(mutex_);
    while (things_.size() >= capacity_ && !closed_) changed_.wait(mutex_);
    if (closed_) return false;
    things_.push_back(std::move(thing));
    changed_.notify_all();
    return true;
  }
  /// Waits for one.  returns  none: it was closed, and nothing is left
  [[nodiscard]] std::optional<Thing> take() {
    const core::MutexLock lock(mutex_);
    busy_ = false;
    changed_.notify_all();
    while (things_.empty() && !closed_) changed_.wait(mutex_);
    if (things_.empty()) return std::nullopt;
    Thing thing = std::move(things_.front());
    things_.pop_front();
    busy_ = true;
    changed_.notify_all();
    return thing;
  }
  [[nodiscard]] bool empty() {
    const core::MutexLock lock(mutex_);
    return things_.empty();
  }
  /// Nothing is left, and its taker has come for more.
  [[nodiscard]] bool idle() {
    const core::MutexLock lock(mutex_);
    return things_.empty() && !busy_;
  }
  void wait_until_idle() {
    const core::MutexLock lock(mutex_);
    while ((!things_.empty() || busy_) && !closed_) changed_.wait(mutex_);
  }
  /// Nothing more is given; what is left can be taken.
  void close() {
    const core::MutexLock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  const std::size_t capacity_;
  core::Mutex mutex_;
  core::Condition changed_;
  std::deque<Thing> things_ UDTCAT_GUARDED_BY(mutex_);
  bool busy_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool closed_ UDTCAT_GUARDED_BY(mutex_) = false;
};

}  // namespace udtcat::trees
