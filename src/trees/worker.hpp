// SPDX-License-Identifier: Apache-2.0
/// Blocking work on a thread of its own, whose result comes to an io_context.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

namespace udtcat::trees {

/// Threads: confined to the io_context thread. Destroying it waits for the work: whoever destroys it
/// makes the work end first.
class Worker {
 public:
  /// work      runs on the thread
  /// on_over   is called with its result, not after destruction
  Worker(boost::asio::io_context& io, std::function<Status()> work, std::function<void(const Status&)> on_over);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }

  /// errors: those of start_thread(), which on_over is told as well
  [[nodiscard]] const Status& started() const { return started_; }

 private:
  std::shared_ptr<std::function<void(const Status&)>> on_over_;
  std::thread thread_;
  const Status started_;
};

}  // namespace udtcat::trees
