// SPDX-License-Identifier: Apache-2.0
/// One end of one transfer: a thread that waits, and the bytes between it and an io_context.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "trees/blocking_stream.hpp"

namespace udtcat::trees {

/// Threads: confined to the io_context thread. Destroying it cuts the stream and waits for its thread, which may be
/// waiting for a disk.
class Transfer {
 public:
  using Run = std::function<Status(BlockingStream& stream)>;

  /// run       runs on the thread
  /// on_over   is called with its result, not after destruction; where there is no thread, with Errc::out_of_resources
  Transfer(boost::asio::io_context& io, Run run, std::function<void(const Status&)> on_over);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer();

  /// Once: what a connection or a relay drives.
  [[nodiscard]] std::unique_ptr<LocalStream> local_stream() { return stream_.local_stream(); }
  void cut() { stream_.cut(); }

 private:
  BlockingStream stream_;
  std::thread thread_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::trees
