// SPDX-License-Identifier: Apache-2.0
/// A session's datagrams in ssh's pipes. Bytes: docs/spec/rsh.md §7.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <udtcat/connection.hpp>
#include <udtcat/local_stream.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::ssh {

/// Datagrams in both directions of a pipe. While the pipe is full they are lost, as on any path, and all are once it
/// has ended.
/// Threads: confined to the io_context thread. Handlers are called there, not after destruction.
class DatagramPipe {
 public:
  static constexpr std::size_t kMaxDatagramBytes = 65'535;          // spec: docs/spec/rsh.md §7
  static constexpr std::size_t kQueueBytes = std::size_t{1} << 18;  // guess: a queue of four trains
  using DatagramHandler = std::function<void(std::span<const std::byte> datagram)>;

  /// pipe     outlives this; ended by our destructor
  /// on_end   the pipe has ended, or was not one of datagrams; once
  DatagramPipe(LocalStream& pipe, DatagramHandler on_datagram, std::function<void()> on_end);
  ~DatagramPipe();

  /// `datagram` is not empty, and copied.
  void send(std::span<const std::byte> datagram);
  /// Writes `bytes` before the datagrams that are sent from now on.
  void write_first(std::span<const std::byte> bytes);

 private:
  void write();
  void write_rest(std::span<const std::byte> rest);
  void await_pipe();
  void read_pipe();
  [[nodiscard]] bool hand_on();
  void end();

  LocalStream& pipe_;
  DatagramHandler on_datagram_;
  std::function<void()> on_end_;     // empty: the pipe has ended
  std::vector<std::byte> outgoing_;  // to the pipe
  std::vector<std::byte> writing_;   // it has these
  std::vector<std::byte> piece_;     // of the pipe
  std::vector<std::byte> incoming_;  // less than one datagram, and a piece
  core::Lifetime lifetime_;
};

/// Makes `pipe` the tunnel of a session.
/// connection   outlives the result, which the session's port outlives
[[nodiscard]] std::shared_ptr<DatagramPipe> tunnel_through(LocalStream& pipe, Connection& connection,
                                                           std::function<void()> on_end);
/// `connection` sends by `pipe`, as long as that is there.
void send_through(const std::shared_ptr<DatagramPipe>& pipe, Connection& connection);

}  // namespace udtcat::ssh
