// SPDX-License-Identifier: Apache-2.0
/// One connected stream socket, TCP or unix, as a local stream. make_tcp_stream() is in <udtcat/bridges.hpp>.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <udtcat/local_stream.hpp>

#include "lib/bridge/tcp_liveness.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// From when on a close of a TCP connection is graceful. Before that any close is a reset, also by this process's
/// death. A unix socket has no reset: a truncated stream looks complete there.
enum class GracefulClose {
  always,     ///< from the start: the bytes that it carries prove their end by themselves
  receipted,  ///< both directions have ended, and all that was read has been receipted: of a stream of a connection
};

/// Threads: confined to the io_context thread.
class SocketStream final : public LocalStream {
 public:
  SocketStream(StreamSocket socket, GracefulClose close);
  ~SocketStream() override;
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override;
  void receipted() override { half_has_ended(); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;
  [[nodiscard]] std::string source_name() const override { return name_; }
  [[nodiscard]] std::string sink_name() const override { return name_; }

 private:
  void close_as_a_reset(bool on);
  void half_has_ended();
  void on_lost();

  StreamSocket socket_;
  const std::string name_;
  std::size_t open_halves_;  // until both have ended, any close is a reset
  AckWatch acks_;
  bool is_lost_ = false;  // the other host
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
