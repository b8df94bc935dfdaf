// SPDX-License-Identifier: Apache-2.0
/// Listening TCP ports, or a listening unix socket, for local clients.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/socket_stream.hpp"
#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/bridge/unix_socket.hpp"

namespace udtcat::bridge {

/// Listens from open() until its destruction.
/// Threads: confined to the io_context thread, where the handlers are called.
class LocalListener {
 public:
  /// client   no address where it came by a unix socket
  using ClientHandler = std::function<void(StreamSocket socket, const Endpoint& client)>;
  using ShortageHandler = TcpPorts::ShortageHandler;

  /// address   of TCP those with port 0 share one that the system chooses
  /// errors: Errc::cannot_bind
  [[nodiscard]] static Result<std::unique_ptr<LocalListener>> open(boost::asio::io_context& io,
                                                                   const SocketAddress& address,
                                                                   ClientHandler on_client,
                                                                   ShortageHandler on_shortage);
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;
  ~LocalListener();

  /// Takes no more clients, but for a few that may be on their way, until resume(): they wait in the system's backlog.
  void pause();
  void resume();
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  explicit LocalListener(std::string unix_path) : unix_path_(std::move(unix_path)) {}

  const std::string unix_path_;  // empty: TCP
  std::variant<TcpPorts, std::unique_ptr<UnixAcceptor>> accepting_;
};

}  // namespace udtcat::bridge
