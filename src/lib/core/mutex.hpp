// SPDX-License-Identifier: Apache-2.0
/// Locks that clang checks: a member with UDTCAT_GUARDED_BY(mutex_) is touched, and a function with
/// UDTCAT_REQUIRES(mutex_) is called, only where mutex_ is held (-Wthread-safety, in the test style.tidy).
///
///   const core::MutexLock lock(mutex_);
///   while (waiting_.empty()) given_.wait(mutex_);   // a lambda as predicate would be checked as if nothing were held
///
/// Constructors and destructors are not checked, nor is a reference that outlives the lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// source: clang's documentation, "Thread Safety Analysis"; gcc has none
#ifdef __clang__
#define UDTCAT_THREAD_ATTRIBUTE_(...) __attribute__((__VA_ARGS__))
#else
#define UDTCAT_THREAD_ATTRIBUTE_(...)
#endif

#define UDTCAT_CAPABILITY(name) UDTCAT_THREAD_ATTRIBUTE_(capability(name))
#define UDTCAT_SCOPED_CAPABILITY UDTCAT_THREAD_ATTRIBUTE_(scoped_lockable)
#define UDTCAT_GUARDED_BY(...) UDTCAT_THREAD_ATTRIBUTE_(guarded_by(__VA_ARGS__))
#define UDTCAT_REQUIRES(...) UDTCAT_THREAD_ATTRIBUTE_(requires_capability(__VA_ARGS__))
#define UDTCAT_RETURN_CAPABILITY(...) UDTCAT_THREAD_ATTRIBUTE_(lock_returned(__VA_ARGS__))
#define UDTCAT_ACQUIRE(...) UDTCAT_THREAD_ATTRIBUTE_(acquire_capability(__VA_ARGS__))
#define UDTCAT_RELEASE(...) UDTCAT_THREAD_ATTRIBUTE_(release_capability(__VA_ARGS__))

namespace udtcat::core {

/// Locked by MutexLock alone.
class UDTCAT_CAPABILITY("mutex") Mutex {
 private:
  friend class MutexLock;
  friend class Condition;
  std::mutex mutex_;
};

/// Holds the mutex from here to the end of the scope, but between unlock() and lock().
class UDTCAT_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) UDTCAT_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() UDTCAT_RELEASE() = default;

  void unlock() UDTCAT_RELEASE() { lock_.unlock(); }
  void lock() UDTCAT_ACQUIRE() { lock_.lock(); }

 private:
  std::unique_lock<std::mutex> lock_;
};

/// A std::condition_variable upon the one mutex that its waiters hold.
class Condition {
 public:
  void wait(Mutex& mutex) UDTCAT_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();  // the caller's
  }
  /// As wait().  returns  std::cv_status::timeout once `limit` is over
  std::cv_status wait_for(Mutex& mutex, std::chrono::milliseconds limit) UDTCAT_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = condition_.wait_for(lock, limit);
    lock.release();
    return status;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace udtcat::core
