// SPDX-License-Identifier: Apache-2.0
/// The two threads of a channel, since libudt blocks: one reads, one writes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"
#include "lib/core/shared_bytes.hpp"
#include "lib/transport/libudt/libudt_connection.hpp"
#include "lib/transport/libudt/runtime.hpp"

namespace udtcat::transport::libudt {

/// A handler on its way from one of our threads back to the io_context.
/// Keeps the io_context running until the operation is over.
/// Threads: unsynchronised; made on one thread, moved to another, called there once.
template <typename Outcome>
class CompletionOf {
 public:
  /// `handler` does nothing when its channel is gone (core::Lifetime).
  CompletionOf(boost::asio::io_context& io, std::function<void(Outcome)> handler)
      : work_(boost::asio::make_work_guard(io)), handler_(std::move(handler)) {}

  void post(Outcome outcome) {
    boost::asio::post(work_.get_executor(), [handler = std::move(handler_), outcome = std::move(outcome)]() mutable {
      handler(std::move(outcome));
    });
    work_.reset();
  }

 private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::function<void(Outcome)> handler_;
};

using Completion = CompletionOf<Status>;
using ReadCompletion = CompletionOf<Result<std::size_t>>;

/// The thread that reads a connection.
/// libudt writes straight into the caller's buffer, so that a read that was begun cannot be abandoned: it ends within
/// kBlockingCallLimit of stop(), or at once when the connection is closed.
/// Threads: confined to the channel's, and its own inside.
class ReceiveLoop {
 public:
  explicit ReceiveLoop(std::shared_ptr<LibudtConnection> connection) : connection_(std::move(connection)) {}
  /// Waits for the read in progress.
  ~ReceiveLoop();

  struct Request {
    std::span<std::byte> into;
    std::size_t least_bytes;
    bool tells_the_end;  ///< gives 0 where the peer closed in order
    ReadCompletion done;
  };
  /// One at a time. The thread starts with the first. Says how much was read.
  void read(Request request);
  /// The read in progress ends with Errc::connection_broken, later ones at once.
  void stop();

 private:
  void run();
  [[nodiscard]] Result<std::size_t> fill(const Request& request);

  const std::shared_ptr<LibudtConnection> connection_;  // synchronises itself
  core::Mutex mutex_;
  core::Condition changed_;
  std::optional<Request> request_ UDTCAT_GUARDED_BY(mutex_);
  bool stopping_ UDTCAT_GUARDED_BY(mutex_) = false;
  std::optional<Error> broken_;  // the loop's own
  std::thread thread_;           // the channel's
};

/// The thread that writes a connection, and waits for its end.
/// Writes in the order of the calls; the caller bounds how many wait. The thread starts with the first.
///
///   open ──close()──► draining ──all acknowledged, broken or time is up──► closed
///
/// Draining sends what waits here and then lets libudt send what it holds.
///
/// Threads: confined to the channel's, and its own inside.
class SendLoop {
 public:
  SendLoop(std::shared_ptr<LibudtConnection> connection, std::shared_ptr<Runtime> runtime);
  /// The rest of the drain goes on without us.
  ~SendLoop();

  void write(core::SharedBytes from, Completion done);
  /// `done` once all that was written before is acknowledged; later writes wait for that too. Starts the thread.
  void wait_drained(Completion done);
  /// Closes the connection, after at most `drain`. Returns at once. The first call counts.
  void close(std::chrono::milliseconds drain);

 private:
  class Queue;
  void start();

  const std::shared_ptr<LibudtConnection> connection_;  // synchronises itself
  const std::shared_ptr<Runtime> runtime_;              // synchronises itself
  const std::shared_ptr<Queue> queue_;  // synchronises itself; shared with the thread, which may outlive us
  std::thread thread_;                  // the channel's
};

}  // namespace udtcat::transport::libudt
