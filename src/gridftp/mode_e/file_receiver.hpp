// SPDX-License-Identifier: Apache-2.0
/// Receives one file on MODE E data connections.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/block_sink.hpp"
#include "gridftp/mode_e/data_stack.hpp"
#include "gridftp/mode_e/incoming_file.hpp"

namespace udtcat::gridftp {

/// The receiving side of one file: complete when as many connections have ended as the sender said. A connection that
/// ends before its first byte was an unauthenticated client's, and is ignored.
/// Threads: confined to the io_context thread.
class FileReceiver {
 public:
  FileReceiver(boost::asio::io_context& io, IncomingFile file, std::shared_ptr<BlockSink> sink);
  /// Breaks off every connection that has not been released.
  ~FileReceiver();
  FileReceiver(const FileReceiver&) = delete;
  FileReceiver& operator=(const FileReceiver&) = delete;

  void take(DataConnection connection);
  /// Waits until the file is there, and whole, or never will be.
  /// errors: Errc::protocol_violated, Errc::connection_broken, those of the sink, that of fail()
  [[nodiscard]] Task<Status> result();
  void fail(Error why);
  /// After a good result: the connections whose sender has not closed them, for the next file.
  [[nodiscard]] std::vector<DataConnection> release();

  [[nodiscard]] const IncomingFile& file() const;
  [[nodiscard]] std::uint64_t received_bytes() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the coroutine of each connection
};

}  // namespace udtcat::gridftp
