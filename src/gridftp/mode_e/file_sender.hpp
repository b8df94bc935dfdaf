// SPDX-License-Identifier: Apache-2.0
/// Sends one file on MODE E data connections.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/block_header.hpp"
#include "gridftp/mode_e/block_source.hpp"
#include "gridftp/mode_e/data_stack.hpp"

namespace udtcat::gridftp {

struct SendRequest {
  std::shared_ptr<BlockSource> source;
  std::uint64_t offset_on_wire = 0;                   ///< is subtracted from offsets: what the receiver counts from
  std::size_t block_bytes = kDefaultModeEBlockBytes;  ///< of payload at most
  std::function<void(std::size_t bytes)> sent = [](std::size_t) {};  ///< is told of each block
};

/// One transfer's sending side. Every connection ends by an end of data; the last to do so at each address says how
/// many they were.
/// Threads: confined to the io_context thread.
class FileSender {
 public:
  /// `connections` is not empty; each address up to the highest has one.
  FileSender(boost::asio::io_context& io, std::vector<DataConnection> connections, SendRequest request);
  /// Breaks the connections off, unless the result was good.
  ~FileSender();
  FileSender(const FileSender&) = delete;
  FileSender& operator=(const FileSender&) = delete;

  /// Waits until all connections have taken everything.
  /// errors: those of the source; Errc::connection_broken, after which all connections are broken off; that of fail()
  [[nodiscard]] Task<Status> result();
  void fail(Error why);

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the coroutine of each connection
};

}  // namespace udtcat::gridftp
