// SPDX-License-Identifier: Apache-2.0
/// A listening stream socket that survives a shortage of descriptors.
#pragma once

#include <chrono>
#include <functional>
#include <system_error>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

inline constexpr auto kAcceptPause = std::chrono::milliseconds(200);  // guess: a connection or two has ended by then

/// One listening socket. Clients that connect while it pauses, or is held, wait in the system's backlog.
/// Threads: confined to the io_context thread, where the handlers are called.
/// Protocol   boost::asio::ip::tcp or boost::asio::local::stream_protocol
template <typename Protocol>
class SocketAcceptor {
 public:
  using Acceptor = boost::asio::basic_socket_acceptor<Protocol>;
  using Socket = typename Protocol::socket;
  using SocketHandler = std::function<void(Socket)>;
  /// Accepting pauses because of `error`.  local   as in Bound
  using ShortageHandler = std::function<void(const Endpoint& local, std::error_code error)>;
  /// A socket that listens, and where.
  struct Bound {
    Acceptor listening;
    Endpoint local;  ///< empty for a Unix socket
  };

  SocketAcceptor(Bound bound, SocketHandler on_socket, ShortageHandler on_shortage);

  /// Accepts no more, but for one client that may be on its way, until resume().
  void pause() { paused_ = true; }
  void resume();
  [[nodiscard]] Endpoint local_endpoint() const { return local_; }

 private:
  void accept();
  void on_accepted(const boost::system::error_code& error, Socket socket);
  void back_off();

  Acceptor acceptor_;
  const Endpoint local_;
  const SocketHandler on_socket_;
  const ShortageHandler on_shortage_;
  bool paused_ = false;
  bool waits_ = false;  // for a client, or for the end of a pause
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
