// SPDX-License-Identifier: Apache-2.0
/// One stream of a connection, that the program itself reads and writes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <udtcat/result.hpp>

namespace udtcat {

/// A sequence of bytes each way, each with its own end. Made by Connection::open_stream() and accept_stream(). Bytes
/// are encrypted, carried in order and delivered once; 1 MiB each way is held between the program and the connection,
/// and the faster of the two waits.
///
/// One read and one write (or the finish) may be under way at a time. A span given stays valid until its handler is
/// called.
///
/// Destroying it drops the handlers uncalled. Before both directions have ended it also breaks the stream off, which
/// the peer hears as Errc::remote_read_failed or Errc::remote_write_failed. The connection goes on, and may be
/// destroyed before its streams.
///
/// Errors (to the handlers, sticky): how the stream broke, e.g. Errc::peer_lost, Errc::tampered, Errc::stream_refused,
/// Errc::remote_write_failed; Errc::connection_broken also when the Connection was destroyed.
///
/// Threads: confined to the connection's io_context thread. Handlers are called there and never from inside the call
/// that took them. Source: docs/spec/stream.md.
class Stream {
 public:
  using ReadHandler = std::function<void(Result<std::size_t> bytes)>;
  using WriteHandler = std::function<void(Status)>;
  using FinishHandler = std::function<void(Status)>;

  virtual ~Stream() = default;

  /// Reads at least 1 byte and as many as are there. 0 bytes are the end: the peer has finished.
  /// into   not empty
  virtual void async_read(std::span<std::byte> into, ReadHandler handler) = 0;

  /// Calls back when the connection has taken all bytes of `from`; async_finish() tells when the peer has.
  virtual void async_write(std::span<const std::byte> from, WriteHandler handler) = 0;

  /// Ends this direction, and calls back when the peer's consumer has taken every byte, by its receipt.
  /// Reading may go on. Once, and no write after it.
  virtual void async_finish(FinishHandler handler) = 0;
};

}  // namespace udtcat
