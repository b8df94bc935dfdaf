// SPDX-License-Identifier: Apache-2.0
/// The threads that seal and open: one set for all sessions of the process.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include <sys/types.h>

#include <udtcat/evidence.hpp>
#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"

namespace udtcat::session {

/// Bounded: it holds the strands that have work, which their owners bound.
/// Threads: internally synchronised.
class CipherThreads {
 public:
  /// Pieces of work that follow each other, one thread at a time: a lane and its blocks.
  ///
  ///   idle ──add()──► ready ──a thread is free──► worked ──► ready, behind the others, or idle
  class Strand {
   public:
    virtual ~Strand() = default;

   private:
    friend class CipherThreads;
    virtual void work() = 0;

    std::size_t pieces_ = 0;  // guarded by the mutex, as is the next
    bool worked_ = false;
  };

  /// Those of the process: begun by the first session that needs some, more where one needs more, ended with the last.
  /// count    at least 1
  /// errors   Errc::out_of_resources where there is none; fewer than `count` are slower, not wrong
  [[nodiscard]] static Result<std::shared_ptr<CipherThreads>> of_process(std::size_t count);
  /// A set apart.  errors: as above
  [[nodiscard]] static Result<std::shared_ptr<CipherThreads>> start(std::size_t count);
  ~CipherThreads();
  CipherThreads(const CipherThreads&) = delete;
  CipherThreads& operator=(const CipherThreads&) = delete;

  /// The strand has one piece more. It must live until remove().
  void add(Strand& strand);
  /// Drops the pieces of a strand, and waits for the one that a thread works on.
  void remove(Strand& strand);
  /// Adds the times of all its threads, as read a moment ago at most, and how many there are.
  void add_times(EndEvidence& evidence);

 private:
  CipherThreads() = default;
  [[nodiscard]] Status grow(std::size_t count);
  void run();

  core::Mutex mutex_;
  core::Condition work_there_;
  core::Condition piece_done_;
  std::deque<Strand*> ready_ UDTCAT_GUARDED_BY(mutex_);  // each has a piece, and no thread
  bool stopping_ UDTCAT_GUARDED_BY(mutex_) = false;
  core::Mutex threads_mutex_;
  std::vector<std::thread> threads_ UDTCAT_GUARDED_BY(threads_mutex_);
  std::vector<pid_t> thread_numbers_ UDTCAT_GUARDED_BY(mutex_);  // the system's, of those that have begun
  std::chrono::steady_clock::time_point times_read_at_ UDTCAT_GUARDED_BY(threads_mutex_);
  ThreadTime times_ UDTCAT_GUARDED_BY(threads_mutex_);  // by then
};

}  // namespace udtcat::session
