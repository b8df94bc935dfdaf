// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/io_thread.hpp"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <utility>

#include <pthread.h>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"
#include "lib/core/mutex.hpp"
#include "lib/core/try.hpp"
#include "lib/net/event_loop.hpp"

namespace udtcat::transport {

namespace {

constexpr const char* kThreadName = "packets";  // as ps -L shows it

}  // namespace

/// Threads: internally synchronised.
class IoThread::Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  explicit Mailbox(boost::asio::io_context& to) : to_(to) {}

  void put(Task task) {
    {
      const core::MutexLock lock(mutex_);
      waiting_.push_back(std::move(task));
      if (waiting_.size() > 1) return;  // the post for the first is for all
    }
    boost::asio::post(to_, [self = shared_from_this()] { self->empty(); });
  }

 private:
  void empty() {
    std::vector<Task> tasks;
    {
      const core::MutexLock lock(mutex_);
      tasks.swap(waiting_);
    }
    for (Task& task : tasks) std::exchange(task, nullptr)();
  }

  boost::asio::io_context& to_;
  core::Mutex mutex_;
  std::vector<Task> waiting_ UDTCAT_GUARDED_BY(mutex_);
};

Result<std::unique_ptr<IoThread>> IoThread::start(boost::asio::io_context& owner) {
  std::unique_ptr<IoThread> made(new IoThread(owner));
  try {
    UDTCAT_CHECK(net::prepare_event_loop(made->io_, net::LoopSignals::none));
    made->thread_ = std::thread([&io = made->io_] { io.run(); });
  } catch (const std::runtime_error& error) {
    return fail(Errc::out_of_resources, "start a thread for packets", error.what());
  }
  made->stopped_ = false;
  ::pthread_setname_np(made->thread_.native_handle(), kThreadName);
  return made;
}

IoThread::IoThread(boost::asio::io_context& owner)
    : work_(io_.get_executor()), there_(std::make_shared<Mailbox>(io_)), back_(std::make_shared<Mailbox>(owner)) {}

IoThread::~IoThread() {
  stop();
  join();
}

void IoThread::post(Task task) {
  if (!stopped_) there_->put(std::move(task));
}

void IoThread::call(const Task& task) {
  UDTCAT_INVARIANT(!stopped_, "a channel's engine, and its threads, outlive it");
  const auto done = std::make_shared<std::promise<void>>();
  const auto ended = done->get_future();
  there_->put([&task, done] {
    task();
    done->set_value();
  });
  ended.wait();
}

void IoThread::post_back(Task task) { back_->put(std::move(task)); }

void IoThread::stop() {
  if (std::exchange(stopped_, true)) return;
  there_->put([this] {
    work_.reset();
    io_.stop();
  });
}

void IoThread::join() {
  if (thread_.joinable()) thread_.join();
}

Result<IoThread*> IoThreads::at(std::size_t index) {
  UDTCAT_INVARIANT(index < limit_ && index <= threads_.size(), "threads start one after the other");
  if (index == threads_.size()) {
    UDTCAT_TRY(auto started, IoThread::start(owner_));
    threads_.push_back({std::move(started)});
  }
  return threads_[index].thread.get();
}

std::size_t IoThreads::least_busy(std::size_t owners_connections, std::size_t startable) const {
  std::size_t least = limit_;
  // The owner has its sessions' work besides: of equals it is not the one, unless it has none.
  std::size_t fewest = owners_connections == 0 ? 0 : owners_connections + 1;
  for (std::size_t i = 0; i < std::min(limit_, startable); ++i) {
    const std::size_t connections = i < threads_.size() ? threads_[i].connections : 0;
    if (connections >= fewest) continue;
    least = i;
    fewest = connections;
  }
  return least;
}

void IoThreads::stop() {
  for (const Entry& each : threads_) each.thread->stop();
  for (const Entry& each : threads_) each.thread->join();
}

}  // namespace udtcat::transport
