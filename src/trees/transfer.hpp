// SPDX-License-Identifier: Apache-2.0
/// One end of one transfer, on a thread of its own.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "trees/wire.hpp"
#include "trees/worker.hpp"

namespace udtcat::trees {

/// Threads: confined to the io_context thread. Destroying it cuts the wire and waits for its thread, which may wait for
/// a disk.
class Transfer {
 public:
  using Work = std::function<Status(Wire& wire)>;

  /// work      runs on the thread
  /// on_over   is called with its result, not after destruction
  Transfer(boost::asio::io_context& io, Work work, std::function<void(const Status&)> on_over);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() { cut(); }

  /// Once: what a connection or a relay drives.
  [[nodiscard]] std::unique_ptr<LocalStream> stream() { return wire_.stream(); }
  void cut() { wire_.cut(); }

 private:
  Wire wire_;
  Worker worker_;
};

}  // namespace udtcat::trees
