// SPDX-License-Identifier: Apache-2.0
/// Threads that carry packets beside their owner's: an io_context each, and the ways there and back.
///
///   owner's thread ── post(), call() ──► mailbox ─► io thread ── post_back() ──► mailbox ─► owner's thread
///
/// All that is posted before a mailbox is emptied goes at once: one wake-up for all.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

namespace udtcat::transport {

/// The io thread never waits for its owner's, so that the owner may wait for it.
/// Threads: confined to its owner's, but for post_back(), which is the io thread's.
class IoThread {
 public:
  using Task = std::function<void()>;

  /// owner   the owner's; outlives this.  errors: Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<IoThread>> start(boost::asio::io_context& owner);
  /// Ends the thread behind what was posted, and waits for it.
  ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  /// Runs the task on the io thread, in the order of the calls; the caller bounds how many wait. Without effect after
  /// stop().
  void post(Task task);
  /// As post(), and returns when it has run.
  void call(const Task& task);
  /// Runs the task on the owner's thread, in the order of the calls.
  void post_back(Task task);
  /// Ends the thread behind what was posted. Returns at once: join() waits.
  void stop();
  void join();

  [[nodiscard]] boost::asio::io_context& io() { return io_; }

 private:
  class Mailbox;
  explicit IoThread(boost::asio::io_context& owner);

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;  // it runs while nothing is to do
  const std::shared_ptr<Mailbox> there_;
  const std::shared_ptr<Mailbox> back_;
  bool stopped_ = true;  // until its thread runs
  std::thread thread_;
};

/// As many as there may be, each started when it is first asked for, and how many connections each carries.
/// Threads: confined to their owner's.
class IoThreads {
 public:
  /// limit   how many there may be beside the owner's
  IoThreads(boost::asio::io_context& owner, std::size_t limit) : owner_(owner), limit_(limit) {}

  [[nodiscard]] std::size_t limit() const { return limit_; }
  /// index   from 0; of one that is there or the next.  errors: Errc::out_of_resources
  [[nodiscard]] Result<IoThread*> at(std::size_t index);
  /// The thread with the fewest connections, where those are no more than the owner's; limit(): the owner's.
  /// startable   how many may be chosen; one that is not there yet has no connections
  [[nodiscard]] std::size_t least_busy(std::size_t owners_connections, std::size_t startable) const;
  void add_connection(std::size_t index) { ++threads_[index].connections; }
  void remove_connection(std::size_t index) { --threads_[index].connections; }
  /// Ends all of them behind what was posted, and waits for them.
  void stop();

 private:
  struct Entry {
    std::unique_ptr<IoThread> thread;
    std::size_t connections = 0;
  };

  boost::asio::io_context& owner_;
  const std::size_t limit_;
  std::vector<Entry> threads_;
};

}  // namespace udtcat::transport
