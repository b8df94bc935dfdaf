// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/disk_threads.hpp"

#include <system_error>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "lib/core/log.hpp"

namespace udtcat::gridftp {

boost::asio::execution_context::id DiskThreads::id;

DiskThreads::DiskThreads(boost::asio::io_context& io) : service(io), io_(io), has_room_(io) {
  try {
    while (threads_.size() < kThreads) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    core::log().warn("{} of {} threads for disks: {}", threads_.size(), kThreads, error.what());
  }
}

DiskThreads::~DiskThreads() = default;

Task<void> DiskThreads::room() {
  while (calls_ >= kMaxCalls) co_await has_room_.wait();
}

void DiskThreads::give(std::function<void()> call, std::function<void()> done) {
  ++calls_;
  if (threads_.empty()) call();  // slowly, but it is done
  // The loop has something to wait for meanwhile.
  auto finished = [this, done = std::move(done), busy = boost::asio::make_work_guard(io_)] { on_done(done); };
  if (threads_.empty()) return boost::asio::post(io_, std::move(finished));
  const core::MutexLock lock(mutex_);
  waiting_.push_back({std::move(call), std::move(finished)});
  changed_.notify_one();
}

void DiskThreads::on_done(const std::function<void()>& done) {
  --calls_;
  has_room_.notify();
  done();
}

void DiskThreads::work() {
  core::MutexLock lock(mutex_);
  for (;;) {
    while (!stopping_ && waiting_.empty()) changed_.wait(mutex_);
    if (stopping_) return;
    Call next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next.call();
    boost::asio::post(io_, std::move(next.done));
    lock.lock();
  }
}

/// Drops calls that have not begun, and with them the coroutines that wait for them.
void DiskThreads::shutdown() noexcept {
  std::deque<Call> dropped;
  {
    const core::MutexLock lock(mutex_);
    stopping_ = true;
    dropped = std::exchange(waiting_, {});
    changed_.notify_all();
  }
  for (std::thread& each : threads_) each.join();
}

}  // namespace udtcat::gridftp
