#include "lib/bridge/tcp_acceptor.hpp"

#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include "lib/bridge/asio_terms.hpp"

namespace udtcat::bridge {
namespace {

using boost::asio::ip::tcp;

Endpoint bound_endpoint(const tcp::acceptor& acceptor) {
  boost::system::error_code error;
  return from_asio(acceptor.local_endpoint(error));
}

/// The client gave up between its SYN and our accept(): its affair, and the next may be better.
bool concerns_one_client(const boost::system::error_code& error) {
  return error == boost::asio::error::connection_aborted || error == boost::asio::error::connection_reset;
}

}  // namespace

tl::expected<tcp::acceptor, std::error_code> TcpAcceptor::bind(boost::asio::io_context& io, const Endpoint& local,
                                                               TcpEnd end) {
  const tcp::endpoint endpoint = to_asio(local);
  tcp::acceptor acceptor(io);
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(boost::asio::socket_base::reuse_address(true), error);
  // Each family has a socket of its own; an IPv6 one that took IPv4 too would be in the other's way.
  if (!error && local.family() == AddressFamily::ipv6) acceptor.set_option(boost::asio::ip::v6_only(true), error);
  // Those that it accepts have what it has (Linux), also where we die before we see them.
  if (!error && end == TcpEnd::receipted) acceptor.set_option(boost::asio::socket_base::linger(true, 0), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) return tl::unexpected(from_asio(error));
  return acceptor;
}

TcpAcceptor::TcpAcceptor(tcp::acceptor acceptor, SocketHandler on_socket, ShortageHandler on_shortage)
    : acceptor_(std::move(acceptor)),
      local_(bound_endpoint(acceptor_)),
      on_socket_(std::move(on_socket)),
      on_shortage_(std::move(on_shortage)),
      timer_(acceptor_.get_executor()) {
  accept();
}

void TcpAcceptor::accept() {
  acceptor_.async_accept(lifetime_.guard(
      [this](const boost::system::error_code& error, tcp::socket socket) { on_accepted(error, std::move(socket)); }));
}

void TcpAcceptor::on_accepted(const boost::system::error_code& error, tcp::socket socket) {
  if (!error || concerns_one_client(error)) {
    accept();  // first, since on_socket_ may destroy this
    if (!error) on_socket_(std::move(socket));
    return;
  }
  // EMFILE, ENFILE, ENOBUFS, ENOMEM, or an error not known here: tried again at once it would be met again at once.
  pause();
  on_shortage_(local_, from_asio(error));
}

void TcpAcceptor::pause() {
  timer_.expires_after(kAcceptPause);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
    if (!error) accept();
  }));
}

}  // namespace udtcat::bridge
