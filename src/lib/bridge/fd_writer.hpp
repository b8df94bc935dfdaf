// SPDX-License-Identifier: Apache-2.0
/// The sink half of a descriptor: what it takes at once is written at once, and a thread waits with the rest, so that a
/// slow consumer stalls nothing else.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <thread>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/half_descriptor.hpp"
#include "lib/bridge/pending_call.hpp"
#include "lib/bridge/wake_event.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::bridge {

/// A consumer that went away is EPIPE, never a signal: the thread keeps SIGPIPE blocked, whatever the program does with
/// it, and where the program does not ignore it all that is for a pipe is left to the thread.
/// Threads: confined to the io_context thread; run() and what it calls are on a thread of their own.
class FdWriter {
 public:
  /// Owns `number` from now on, also when it fails.  errors: Errc::out_of_resources
  /// until_read   async_finish() waits for the reader of a pipe or Unix socket, and for a TCP socket's peer
  [[nodiscard]] static Result<std::unique_ptr<FdWriter>> start(boost::asio::io_context& io, int number,
                                                               bool until_read = true);
  ~FdWriter();

  /// As LocalStream. Errors are errno values of the generic category.
  void async_write_some(std::span<const std::byte> from, LocalStream::WriteHandler handler);
  /// Once, after the last write. A pipe or a Unix socket: waits until its reader has read the last byte; EPIPE or
  /// ECONNRESET where it left bytes unread. A TCP socket: shut down, waits until the peer's system has acknowledged
  /// all, the end included. A file: the error of close(). Anything else: closed.
  void async_finish(LocalStream::FinishHandler handler);

  /// Ends the thread, closes the descriptor and drops the handlers; a TCP socket's other side sees a reset unless
  /// async_finish() has completed well. Waits only for a write that the system has begun: a file on a disk that does
  /// not answer is the one thing that can hold it up.
  void stop();

 private:
  enum class Operation { none, write, finish, stop };  // none ◄─► write; none ─► finish; any ─► stop, which stays
  struct PendingOperation {
    Operation operation = Operation::none;
    std::span<const std::byte> from{};  // of Operation::write, the caller's
  };

  FdWriter(boost::asio::io_context& io, int number, bool until_read, WakeEvent stop);

  [[nodiscard]] std::optional<IoResult> write_now(std::span<const std::byte> from) const;
  void start_operation(const PendingOperation& pending);
  void end_thread();
  void run();
  [[nodiscard]] PendingOperation wait_for_operation();
  [[nodiscard]] bool perform(const PendingOperation& pending);
  [[nodiscard]] std::optional<IoResult> write(std::span<const std::byte> from);
  [[nodiscard]] std::optional<std::error_code> finish();
  [[nodiscard]] std::optional<std::error_code> wait_until_taken();

  // constant after construction
  const WakeEvent stop_;
  const bool until_read_;
  const bool sigpipe_ignored_;  // when we began
  // the thread's while it has an operation; else the io_context thread's
  HalfDescriptor descriptor_;
  // complete from the thread
  PendingCall<std::error_code, std::size_t> written_;
  PendingCall<std::error_code> finished_;

  core::Mutex mutex_;
  core::Condition pending_changed_;
  PendingOperation pending_ UDTCAT_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace udtcat::bridge
