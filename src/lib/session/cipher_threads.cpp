// SPDX-License-Identifier: Apache-2.0
#include "lib/session/cipher_threads.hpp"

#include <unistd.h>

#include <system_error>

#include "lib/core/try.hpp"
#include "lib/session/offload_policy.hpp"

namespace udtcat::session {

Result<std::shared_ptr<CipherThreads>> CipherThreads::of_process(std::size_t count) {
  struct Process {
    core::Mutex mutex;
    std::weak_ptr<CipherThreads> threads UDTCAT_GUARDED_BY(mutex);
    pid_t pid UDTCAT_GUARDED_BY(mutex) = 0;
  };
  static Process& process = *new Process;  // never destroyed: a host program's exit() may find us at work
  const core::MutexLock lock(process.mutex);
  auto present = process.threads.lock();
  if (present && process.pid == ::getpid()) {  // a child that was forked has none of its parent's threads
    UDTCAT_CHECK(present->grow(count));
  } else {
    UDTCAT_TRY(present, start(count));
    process.threads = present;
    process.pid = ::getpid();
  }
  return present;
}

Result<std::shared_ptr<CipherThreads>> CipherThreads::start(std::size_t count) {
  std::shared_ptr<CipherThreads> made(new CipherThreads);
  UDTCAT_CHECK(made->grow(count));
  return made;
}

Status CipherThreads::grow(std::size_t count) {
  const core::MutexLock lock(threads_mutex_);
  while (threads_.size() < count) {
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {
      if (threads_.empty()) return fail(Errc::out_of_resources, "start a cipher thread", error.what());
      break;
    }
  }
  return {};
}

CipherThreads::~CipherThreads() {
  {
    const core::MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_there_.notify_all();
  const core::MutexLock lock(threads_mutex_);
  for (std::thread& thread : threads_) thread.join();
}

void CipherThreads::add(Strand& strand) {
  {
    const core::MutexLock lock(mutex_);
    if (++strand.pieces_ > 1) return;  // it is ready, or its thread goes on with it
    ready_.push_back(&strand);
  }
  work_there_.notify_one();
}

void CipherThreads::remove(Strand& strand) {
  const core::MutexLock lock(mutex_);
  std::erase(ready_, &strand);
  strand.pieces_ = 0;
  while (strand.worked_) piece_done_.wait(mutex_);
}

void CipherThreads::add_times(EndStats& end) {
  const auto now = std::chrono::steady_clock::now();
  const core::MutexLock lock(threads_mutex_);
  end.cipher_threads = threads_.size();
  if (now - times_read_at_ >= OffloadPolicy::kReadInterval) {
    times_read_at_ = now;
    std::vector<pid_t> numbers;
    {
      const core::MutexLock begun(mutex_);
      numbers = thread_numbers_;
    }
    SchedulerTimes sum;
    for (const pid_t number : numbers) {
      const auto time = SchedulerTimes::of_thread(number).value_or(SchedulerTimes{});
      sum.had += time.had;
      sum.waited += time.waited;
    }
    times_ = sum.thread_time();
  }
  end.cipher = times_;
}

void CipherThreads::run() {
  core::MutexLock lock(mutex_);
  thread_numbers_.push_back(::gettid());
  for (;;) {
    while (!stopping_ && ready_.empty()) work_there_.wait(mutex_);
    if (stopping_) return;
    Strand& strand = *ready_.front();
    ready_.pop_front();
    strand.worked_ = true;
    lock.unlock();
    strand.work();
    lock.lock();
    strand.worked_ = false;
    if (strand.pieces_ == 0) {  // removed meanwhile
      piece_done_.notify_all();
      continue;
    }
    if (--strand.pieces_ > 0) ready_.push_back(&strand);  // this thread takes it up again if the others are few
  }
}

}  // namespace udtcat::session
