/// Listening TCP ports that survive a shortage of descriptors.
#pragma once

#include <chrono>
#include <functional>
#include <system_error>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/tcp_stream.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

inline constexpr auto kAcceptPause = std::chrono::milliseconds(200);  // guess: a connection or two has ended by then

/// One listening port. Whoever connects while it pauses waits in the system's backlog.
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

}  // namespace udtcat::bridge
