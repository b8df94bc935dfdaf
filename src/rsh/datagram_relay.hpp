// SPDX-License-Identifier: Apache-2.0
/// A session's datagrams in ssh's pipes. Bytes: docs/spec/rsh.md §7.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::rsh {

/// A UDP socket of the loopback interface that is one end of a path through a pipe. It takes the datagrams of one
/// port of this host, that of our engine. Where the pipe is full, datagrams are lost, as on any path. When the pipe has ended, all
/// of them are, but the socket stays: a closed port would look like a peer that is gone.
/// Threads: confined to the io_context thread. The handler is called there, once, not after destruction.
class DatagramRelay {
 public:
  /// A datagram of this length cannot be written to the pipe.
  static constexpr std::size_t kMaxDatagramBytes = 65'535;          // spec: docs/spec/rsh.md §7
  static constexpr std::size_t kQueueBytes = std::size_t{1} << 16;  // guess: what a pipe takes at once

  /// pipe     outlives this; ended by our destructor
  /// on_end   the pipe has ended, or was not one of datagrams
  DatagramRelay(boost::asio::io_context& io, LocalStream& pipe, std::function<void()> on_end);
  ~DatagramRelay();

  /// Takes a new socket in the place of the one before, whose other end is where its first datagram comes from.
  /// returns its address.  errors: Errc::out_of_resources
  [[nodiscard]] Result<Endpoint> listen(AddressFamily family);
  /// Likewise with an other end that is known.  engine   of this host; its wildcard stands for the loopback interface
  [[nodiscard]] Status connect(const Endpoint& engine);
  /// Before the datagrams that come now.
  void write_first(std::vector<std::byte> bytes);

 private:
  using Socket = boost::asio::ip::udp::socket;

  void await_datagrams();
  void take_datagrams();
  [[nodiscard]] std::optional<std::size_t> take_one();
  void write();
  void write_rest(std::span<const std::byte> rest);
  void await_pipe();
  void read_pipe();
  [[nodiscard]] bool hand_on();
  void end();

  LocalStream& pipe_;
  std::function<void()> on_end_;  // empty: the pipe has ended
  Socket socket_;
  std::optional<boost::asio::ip::udp::endpoint> engine_;  // the other end; none: not known yet
  bool is_waiting_ = false;                               // for datagrams
  std::vector<std::byte> datagram_;
  std::vector<std::byte> outgoing_;  // to the pipe
  std::vector<std::byte> writing_;   // it has these
  std::vector<std::byte> piece_;     // of the pipe
  std::vector<std::byte> incoming_;  // from the pipe: less than one datagram, and a piece
  core::Lifetime socket_lifetime_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::rsh
