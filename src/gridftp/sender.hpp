/// Sends one file on MODE E data connections.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "gridftp/byte_ranges.hpp"
#include "gridftp/stream_io.hpp"
#include "gridftp/task.hpp"

namespace udtcat::gridftp {

/// What is to be sent, cut into blocks that the connections take as they have room.
/// Threads: unsynchronised.
class BlockQueue {
 public:
  /// `ranges` in order; none longer than the file.
  BlockQueue(std::vector<ByteRange> ranges, std::size_t block_bytes);
  /// The next block, at most block_bytes long; none: all have been taken.
  [[nodiscard]] std::optional<ByteRange> take();
  /// Nothing lies beyond `end` after all: the source was shorter.
  void cut(std::uint64_t end);

 private:
  std::vector<ByteRange> ranges_;
  std::size_t next_ = 0;  // of ranges_
  const std::size_t block_bytes_;
};

/// How a file is sent.
struct SendRequest {
  std::vector<ByteRange> ranges;        ///< what of it, in order
  std::uint64_t offset_on_wire = 0;     ///< is subtracted from offsets: what the receiver counts from
  std::size_t block_bytes = 1'048'576;  ///< of payload at most
  bool close_connections = false;       ///< CLOSE is set with each end of data
};
/// Fills `into` with the file's bytes from `offset` on; fewer means that the file ends there.
using FetchBlock = std::function<Result<std::size_t>(std::uint64_t offset, std::span<std::byte> into)>;

/// The sending, active side. Every connection ends by an end of data; the last to do so says how many they were.
/// returns  how many bytes of payload were sent, once all connections have taken everything
/// errors: those of `fetch`; Errc::connection_broken, after which all connections are broken off
/// Threads: runs on the io_context thread. `connections` is not empty, and outlives it.
[[nodiscard]] Task<Result<std::uint64_t>> send_file(boost::asio::io_context& io,
                                                    const std::vector<std::unique_ptr<StreamIo>>& connections,
                                                    SendRequest request, FetchBlock fetch);

}  // namespace udtcat::gridftp
