// SPDX-License-Identifier: Apache-2.0
/// A queue between threads, in order, with a bound.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"

namespace udtcat::trees {

/// Full: push() waits. Closed: nothing more is pushed, and behind what is left pop() gives the error of close().
/// Threads: internally synchronised; idle() is of the one thread that pops.
template <typename Item>
class BoundedQueue {
 public:
  using SizeOf = std::size_t (*)(const Item&);

  /// capacity   in items, or in what `size_of` says of each; full once that is reached
  explicit BoundedQueue(
      std::size_t capacity, SizeOf size_of = [](const Item&) -> std::size_t { return 1; })
      : capacity_(capacity), size_of_(size_of) {}

  /// returns  false: it is closed, and the item is dropped
  bool push(Item item) {
    const core::MutexLock lock(mutex_);
    while (size_ >= capacity_ && !closed_) changed_.wait(mutex_);
    return add(std::move(item));
  }
  /// returns  false: it is full or closed, and the item is dropped
  bool try_push(Item item) {
    const core::MutexLock lock(mutex_);
    return size_ < capacity_ && add(std::move(item));
  }
  /// Waits for one.  errors: that of close()
  [[nodiscard]] Result<Item> pop() {
    const core::MutexLock lock(mutex_);
    is_busy_ = false;
    changed_.notify_all();
    while (items_.empty() && !closed_) changed_.wait(mutex_);
    if (items_.empty()) return tl::unexpected(*closed_);
    is_busy_ = true;
    return take_first();
  }
  /// None: nothing is there at the moment.
  [[nodiscard]] std::optional<Item> try_pop() {
    const core::MutexLock lock(mutex_);
    return items_.empty() ? std::nullopt : std::optional(take_first());
  }

  [[nodiscard]] bool empty() {
    const core::MutexLock lock(mutex_);
    return items_.empty();
  }
  /// Nothing is left, and the thread that pops has come for more.
  [[nodiscard]] bool idle() {
    const core::MutexLock lock(mutex_);
    return items_.empty() && !is_busy_;
  }
  void wait_until_idle() {
    const core::MutexLock lock(mutex_);
    while ((!items_.empty() || is_busy_) && !closed_) changed_.wait(mutex_);
  }
  /// Returns when so much time has passed, or once it is closed.
  void wait_closed(std::chrono::nanoseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    const core::MutexLock lock(mutex_);
    for (auto now = end - time; now < end && !closed_; now = std::chrono::steady_clock::now())
      std::ignore = changed_.wait_for(mutex_, std::chrono::ceil<std::chrono::milliseconds>(end - now));
  }

  /// The first error counts.
  void close(Error error = {}) {
    const core::MutexLock lock(mutex_);
    close_locked(std::move(error));
  }
  /// The same; what is left is dropped.
  void close_now(Error error) {
    const core::MutexLock lock(mutex_);
    close_locked(std::move(error));
    items_.clear();
    size_ = 0;
  }
  [[nodiscard]] bool is_closed() {
    const core::MutexLock lock(mutex_);
    return closed_.has_value();
  }

 private:
  void close_locked(Error error) UDTCAT_REQUIRES(mutex_) {
    if (!closed_) closed_ = std::move(error);
    changed_.notify_all();
  }
  [[nodiscard]] bool add(Item item) UDTCAT_REQUIRES(mutex_) {
    if (closed_) return false;
    size_ += size_of_(item);
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }
  [[nodiscard]] Item take_first() UDTCAT_REQUIRES(mutex_) {
    Item item = std::move(items_.front());
    items_.pop_front();
    size_ -= size_of_(item);
    changed_.notify_all();
    return item;
  }

  const std::size_t capacity_;
  const SizeOf size_of_;
  core::Mutex mutex_;
  core::Condition changed_;
  std::deque<Item> items_ UDTCAT_GUARDED_BY(mutex_);
  std::size_t size_ UDTCAT_GUARDED_BY(mutex_) = 0;  // of items_
  std::optional<Error> closed_ UDTCAT_GUARDED_BY(mutex_);
  bool is_busy_ UDTCAT_GUARDED_BY(mutex_) = false;  // with an item that was popped
};

}  // namespace udtcat::trees
