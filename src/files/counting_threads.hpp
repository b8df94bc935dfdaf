// SPDX-License-Identifier: Apache-2.0
/// Threads that count what is in directories.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"

namespace udtcat::files {

/// A few, made when there is something to count, so that no other thread waits for that. Counts wait in the order in
/// which they came.
/// Threads: internally synchronised; destroyed by none of its own.
class CountingThreads {
 public:
  static constexpr std::size_t kThreads = 4;  // guess: half of what a disk does at a time; the rest is for transfers

  /// is_over   is set where nobody waits for it any more
  using Call = std::function<void(const std::atomic<bool>& is_over)>;

  CountingThreads() = default;
  /// Calls that have not begun are dropped.
  ~CountingThreads();
  CountingThreads(const CountingThreads&) = delete;
  CountingThreads& operator=(const CountingThreads&) = delete;

  /// errors: Errc::out_of_resources: there is no thread, and the system has none to give
  [[nodiscard]] Status give(Call call);

 private:
  void work();

  std::atomic<bool> is_over_{false};
  core::Mutex mutex_;
  core::Condition changed_;
  std::deque<Call> waiting_ UDTCAT_GUARDED_BY(mutex_);
  std::size_t idle_ UDTCAT_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::files
