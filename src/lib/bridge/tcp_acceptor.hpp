// SPDX-License-Identifier: Apache-2.0
/// Listening TCP ports.
#pragma once

#include <deque>
#include <functional>
#include <system_error>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/socket_acceptor.hpp"
#include "lib/bridge/socket_stream.hpp"

namespace udtcat::bridge {

using TcpAcceptor = SocketAcceptor<boost::asio::ip::tcp>;

/// close   of the connections that will be accepted, from their birth
/// errors: the system's, of the first step that failed
[[nodiscard]] tl::expected<TcpAcceptor::Bound, std::error_code> bind_tcp(boost::asio::io_context& io,
                                                                         const Endpoint& local, GracefulClose close);

/// The ports of one service: bound together, then accepted from together.
/// Threads: confined to the io_context thread, where the handlers are called.
class TcpPorts {
 public:
  /// Accepting pauses because of `error`, whose text says where.
  using ShortageHandler = std::function<void(const Endpoint& local, const Error& error)>;

  TcpPorts() = default;
  /// Binds all of `locals` that this host has; those that ask for port 0 share the one that the first of them is given.
  /// errors: Errc::cannot_bind, also where it has none
  [[nodiscard]] static Result<TcpPorts> bind(boost::asio::io_context& io, const std::vector<Endpoint>& locals,
                                             GracefulClose close);

  /// Accepts from now on. Once.
  void accept(const TcpAcceptor::SocketHandler& on_socket, const ShortageHandler& on_shortage);
  void pause();
  void resume();
  [[nodiscard]] std::vector<Endpoint> local_endpoints() const;

 private:
  std::vector<TcpAcceptor::Bound> bound_;  // until accept()
  std::deque<TcpAcceptor> acceptors_;
};

}  // namespace udtcat::bridge
