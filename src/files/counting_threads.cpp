// SPDX-License-Identifier: Apache-2.0
#include "files/counting_threads.hpp"

#include <system_error>
#include <utility>

#include "lib/core/user_text.hpp"

namespace udtcat::files {

CountingThreads::~CountingThreads() {
  std::vector<std::thread> threads;
  {
    const core::MutexLock lock(mutex_);
    is_over_ = true;
    waiting_.clear();
    threads = std::exchange(threads_, {});
    changed_.notify_all();
  }
  for (std::thread& each : threads) each.join();
}

Status CountingThreads::give(Call call) {
  const core::MutexLock lock(mutex_);
  if (idle_ <= waiting_.size() && threads_.size() < kThreads) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      if (threads_.empty())
        return core::fail_by_errno(Errc::out_of_resources, "start a thread that counts", error.code().value());
    }
  }
  waiting_.push_back(std::move(call));
  changed_.notify_one();
  return {};
}

void CountingThreads::work() {
  core::MutexLock lock(mutex_);
  for (;;) {
    ++idle_;
    while (!is_over_ && waiting_.empty()) changed_.wait(mutex_);
    --idle_;
    if (is_over_) return;
    {
      const Call next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      next(is_over_);
    }
    lock.lock();
  }
}

}  // namespace udtcat::files
