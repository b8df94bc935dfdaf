// SPDX-License-Identifier: Apache-2.0
/// One stream of a connection, that the program itself reads and writes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include <boost/asio/io_context.hpp>

#include <udtcat/completion.hpp>
#include <udtcat/result.hpp>

namespace udtcat {

/// A sequence of bytes each way, each with its own end. Made by Connection::open_stream() and accept_stream(). Bytes
/// are encrypted, carried in order and delivered once; 1 MiB each way is held between the program and the connection,
/// and the faster of the two waits.
///
/// One read and one write (or the finish) may be under way at a time. A span given stays valid until the operation is
/// over. Each takes a completion token (completion.hpp): `co_await stream->async_read(into,
/// boost::asio::use_awaitable)`
/// gives a Result<std::size_t>. A time limit is a timer that calls abort().
///
/// Destroying it drops the handlers uncalled. Before both directions have ended it also breaks the stream off, which
/// the peer hears as Errc::remote_read_failed or Errc::remote_write_failed. The connection goes on, and may be
/// destroyed before its streams.
///
/// Errors (to the handlers, sticky): how the stream broke, e.g. Errc::peer_lost, Errc::tampered, Errc::stream_refused,
/// Errc::remote_write_failed; Errc::connection_broken also when the Connection was destroyed.
///
/// Threads: confined to the connection's io_context thread. Handlers are called there, or by the executor that they are
/// bound to, and never from inside the call that took them. Source: docs/spec/stream.md.
class Stream {
 public:
  using ReadHandler = std::function<void(Result<std::size_t> bytes)>;
  using WriteHandler = std::function<void(Status)>;
  using FinishHandler = std::function<void(Status)>;

  virtual ~Stream() = default;

  /// Reads at least 1 byte and as many as are there. 0 bytes are the end: the peer has finished.
  /// into    not empty
  /// gives   Result<std::size_t>
  template <typename Token>
  auto async_read(std::span<std::byte> into, Token&& token) {
    return start_operation<Result<std::size_t>>(get_executor(), std::forward<Token>(token),
                                                [this, into](ReadHandler done) { read(into, std::move(done)); });
  }

  /// Is over when the connection has taken all bytes of `from`; async_finish() tells when the peer has.
  /// gives   Status
  template <typename Token>
  auto async_write(std::span<const std::byte> from, Token&& token) {
    return start_operation<Status>(get_executor(), std::forward<Token>(token),
                                   [this, from](WriteHandler done) { write(from, std::move(done)); });
  }

  /// Ends this direction, and is over when the peer's consumer has taken every byte, by its receipt.
  /// Reading may go on. Once, and no write after it.
  /// gives   Status
  template <typename Token>
  auto async_finish(Token&& token) {
    return start_operation<Status>(get_executor(), std::forward<Token>(token),
                                   [this](FinishHandler done) { finish(std::move(done)); });
  }

  /// Breaks the stream off, as destroying it does. What is under way, and what is begun later, fails for `reason`.
  virtual void abort(const Error& reason) = 0;

  [[nodiscard]] virtual boost::asio::io_context::executor_type get_executor() const = 0;

 private:
  virtual void read(std::span<std::byte> into, ReadHandler done) = 0;
  virtual void write(std::span<const std::byte> from, WriteHandler done) = 0;
  virtual void finish(FinishHandler done) = 0;
};

}  // namespace udtcat
