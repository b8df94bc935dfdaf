// SPDX-License-Identifier: Apache-2.0
/// The user's side of a stream: stdin and stdout, a TCP connection, a child process. A program that only wants to read
/// and write a stream needs none of this: see stream.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <system_error>

namespace udtcat {

/// A local two-way byte stream that the multiplexer drives.
///
/// The source half is pulled: bytes go from the kernel straight into the block that will carry them.
/// The sink half is asynchronous, one write at a time.
///
/// Threads: confined to the connection's io_context thread; handlers are called there, never from inside the
/// call that took them. After abort() or destruction no handler is called.
class LocalStream {
 public:
  enum class ReadState { data, would_block, end, failed };
  struct ReadResult {
    ReadState state;
    std::size_t bytes = 0;    ///< more than 0 exactly for ReadState::data
    std::error_code error{};  ///< set exactly for ReadState::failed
  };
  using WaitHandler = std::function<void()>;
  using WriteHandler = std::function<void(std::error_code, std::size_t bytes)>;
  using FinishHandler = std::function<void(std::error_code)>;

  virtual ~LocalStream() = default;

  /// Takes what is there, without waiting. `into` is not empty and is not kept.
  [[nodiscard]] virtual ReadResult read_some(std::span<std::byte> into) = 0;
  /// Calls back once read_some() would no longer say would_block. One wait at a time.
  virtual void async_wait_readable(WaitHandler handler) = 0;
  /// Called once, after ReadState::end, when the consumer at the other end has taken every byte read here, by its
  /// receipt. A source that keeps something until then overrides it.
  virtual void receipted() {}

  /// Writes at least one of `from`'s bytes. `from` stays valid until the handler is called. One at a time.
  virtual void async_write_some(std::span<const std::byte> from, WriteHandler handler) = 0;
  /// Signals end of file to the consumer and calls back when it has taken every byte written (a pipe: read
  /// by the other side; a file: closed without error; a socket: handed to the kernel, write side shut).
  virtual void async_finish(FinishHandler handler) = 0;

  /// Ends both halves at once, as a failure the other side can see where it can (TCP: a reset).
  virtual void abort() = 0;

  /// Names for messages: "stdin" / "stdout", "tcp 127.0.0.1:5432".
  [[nodiscard]] virtual std::string source_name() const = 0;
  [[nodiscard]] virtual std::string sink_name() const = 0;
};

}  // namespace udtcat
