#include "lib/bridge/tcp_acceptor.hpp"

#include <cstdint>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include "lib/bridge/asio_terms.hpp"

namespace udtcat::bridge {
namespace {

using boost::asio::ip::tcp;

constexpr int kPortDraws = 16;  // guess: the odds that a port free in one family is taken in the other are small

Endpoint bound_endpoint(const tcp::acceptor& acceptor) {
  boost::system::error_code error;
  return from_asio(acceptor.local_endpoint(error));
}

/// The client gave up between its SYN and our accept(): its affair, and the next may be better.
bool concerns_one_client(const boost::system::error_code& error) {
  return error == boost::asio::error::connection_aborted || error == boost::asio::error::connection_reset;
}

Result<std::vector<tcp::acceptor>> bind_all(boost::asio::io_context& io, const std::vector<Endpoint>& locals,
                                            TcpEnd end) {
  std::vector<tcp::acceptor> bound;
  std::uint16_t drawn_port = 0;
  for (const Endpoint& local : locals) {
    const Endpoint wanted = local.port() == 0 ? local.with_port(drawn_port) : local;
    auto acceptor = TcpAcceptor::bind(io, wanted, end);
    if (!acceptor) return fail(Errc::cannot_bind, "bind tcp " + wanted.to_string(), cause_of(acceptor.error()));
    if (wanted.port() == 0) drawn_port = bound_endpoint(*acceptor).port();
    bound.push_back(std::move(*acceptor));
  }
  return bound;
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

Result<TcpPorts> TcpPorts::bind(boost::asio::io_context& io, const std::vector<Endpoint>& locals, TcpEnd end) {
  auto bound = bind_all(io, locals, end);
  // A port drawn in one family may be taken in the other; then another is drawn.
  const bool draws = locals.size() > 1 && locals.front().port() == 0;
  for (int drawn = 1; !bound && draws && drawn < kPortDraws; ++drawn) bound = bind_all(io, locals, end);
  return std::move(bound).map([](std::vector<tcp::acceptor> all) {
    TcpPorts ports;
    ports.bound_ = std::move(all);
    return ports;
  });
}

void TcpPorts::accept(const TcpAcceptor::SocketHandler& on_socket, const ShortageHandler& on_shortage) {
  for (tcp::acceptor& acceptor : bound_)
    acceptors_.emplace_back(
        std::move(acceptor), on_socket, [on_shortage](const Endpoint& local, std::error_code error) {
          on_shortage(local, {Errc::out_of_resources, "accept tcp " + local.to_string(), cause_of(error)});
        });
  bound_.clear();
}

std::vector<Endpoint> TcpPorts::local_endpoints() const {
  std::vector<Endpoint> locals;
  for (const TcpAcceptor& acceptor : acceptors_) locals.push_back(acceptor.local_endpoint());
  return locals;
}

}  // namespace udtcat::bridge
