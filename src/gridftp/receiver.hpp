/// Receives one file on MODE E data connections.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "gridftp/incoming_file.hpp"
#include "gridftp/task.hpp"

namespace udtcat::gridftp {

/// The receiving, passive side. Connections come and bring blocks; when as many have ended as the sender said, the file is there.
/// A connection that ends before it has said anything was a stranger's, and is forgotten.
/// Threads: confined to the io_context thread.
class Receiver {
 public:
  /// Stores `bytes`, which are the file's from `offset` on. Called on the io_context thread.
  using Store = std::function<Status(std::uint64_t offset, std::span<const std::byte> bytes)>;

  /// expected   which bytes must come; none: whatever comes before the end
  Receiver(boost::asio::io_context& io, std::optional<ByteRange> expected, Store store);
  /// Breaks every connection off.
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// One more connection. Beyond IncomingFile::kMostConnections it is dropped.
  void take(std::unique_ptr<LocalStream> connection);
  /// Waits until the file is there, and whole, or never will be.
  /// errors: Errc::protocol_violated, Errc::connection_broken, Errc::local_write_failed, that of fail()
  [[nodiscard]] Task<Status> result();
  /// Whoever waits for the result gets this.
  void fail(Error why);

  [[nodiscard]] const IncomingFile& file() const;
  /// Payload stored so far.
  [[nodiscard]] std::uint64_t received_bytes() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the coroutine of each connection
};

}  // namespace udtcat::gridftp
