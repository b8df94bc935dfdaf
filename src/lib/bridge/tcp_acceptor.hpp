/// Listening TCP ports that survive a shortage of descriptors.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <system_error>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/tcp_stream.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

inline constexpr auto kAcceptPause = std::chrono::milliseconds(200);  // guess: a connection or two has ended by then

/// One listening port. Clients that connect while it pauses wait in the system's backlog.
/// Threads: confined to the io_context thread, where the handlers are called.
class TcpAcceptor {
 public:
  using SocketHandler = std::function<void(boost::asio::ip::tcp::socket)>;
  /// Accepting pauses because of `error`.
  using ShortageHandler = std::function<void(const Endpoint& local, std::error_code error)>;

  /// end   of the connections, from their birth
  /// errors: the system's, of the first step that failed
  [[nodiscard]] static tl::expected<boost::asio::ip::tcp::acceptor, std::error_code> bind(boost::asio::io_context& io,
                                                                                          const Endpoint& local,
                                                                                          TcpEnd end);

  /// Accepts from now on.
  TcpAcceptor(boost::asio::ip::tcp::acceptor acceptor, SocketHandler on_socket, ShortageHandler on_shortage);

  [[nodiscard]] Endpoint local_endpoint() const { return local_; }

 private:
  void accept();
  void on_accepted(const boost::system::error_code& error, boost::asio::ip::tcp::socket socket);
  void pause();

  boost::asio::ip::tcp::acceptor acceptor_;
  const Endpoint local_;
  const SocketHandler on_socket_;
  const ShortageHandler on_shortage_;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

/// The ports of one service: bound together, then accepted from together.
/// Threads: confined to the io_context thread, where the handlers are called.
class TcpPorts {
 public:
  /// Accepting pauses because of `error`, whose text says where.
  using ShortageHandler = std::function<void(const Endpoint& local, const Error& error)>;

  /// No port.
  TcpPorts() = default;
  /// Binds all of `locals`; those that ask for port 0 share the one that the first of them is given.
  /// errors: Errc::cannot_bind
  [[nodiscard]] static Result<TcpPorts> bind(boost::asio::io_context& io, const std::vector<Endpoint>& locals,
                                             TcpEnd end);

  /// Accepts from now on. Once.
  void accept(const TcpAcceptor::SocketHandler& on_socket, const ShortageHandler& on_shortage);
  /// Those that are accepted from.
  [[nodiscard]] std::vector<Endpoint> local_endpoints() const;

 private:
  std::vector<boost::asio::ip::tcp::acceptor> bound_;  // until accept()
  std::deque<TcpAcceptor> acceptors_;
};

}  // namespace udtcat::bridge
