// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/tcp_acceptor.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <boost/asio/ip/v6_only.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/core/log.hpp"

namespace udtcat::bridge {
namespace {

using boost::asio::ip::tcp;

constexpr int kPortDraws = 16;  // guess: the odds that a port free in one family is taken in the other are small

/// A host without IPv6 has no ::1, which its files may name all the same.
bool is_missing(const std::error_code& error) {
  return error == std::errc::address_not_available || error == std::errc::address_family_not_supported;
}

/// A given port needs one loopback, 127.0.0.1; with port 0 bind both.
bool is_second_loopback(const Endpoint& local, std::size_t bound) {
  return bound > 0 && local.port() != 0 && local.family() == AddressFamily::ipv6 && local.is_loopback();
}

Result<std::vector<TcpAcceptor::Bound>> bind_all(boost::asio::io_context& io, const std::vector<Endpoint>& locals,
                                                 GracefulClose close) {
  std::vector<TcpAcceptor::Bound> bound;
  std::uint16_t drawn_port = 0;
  std::optional<Error> missing;
  for (const Endpoint& local : locals) {
    const Endpoint wanted = local.port() == 0 ? local.with_port(drawn_port) : local;
    auto listening = bind_tcp(io, wanted, close);
    if (!listening) {
      const Error why{Errc::cannot_bind, "bind tcp " + wanted.to_string(), cause_of(listening.error()),
                      listening.error().value()};
      const bool others_serve =
          is_second_loopback(local, bound.size()) && listening.error() == std::errc::address_in_use;
      if (!is_missing(listening.error()) && !others_serve) return tl::unexpected(why);
      core::log().log(others_serve ? spdlog::level::warn : spdlog::level::info, "{}; it is not listened at",
                      why.message());
      missing = why;
      continue;
    }
    if (wanted.port() == 0) drawn_port = listening->local.port();
    bound.push_back(std::move(*listening));
  }
  if (bound.empty() && missing) return tl::unexpected(*missing);
  return bound;
}

}  // namespace

tl::expected<TcpAcceptor::Bound, std::error_code> bind_tcp(boost::asio::io_context& io, const Endpoint& local,
                                                           GracefulClose close) {
  const tcp::endpoint endpoint = to_asio(local);
  tcp::acceptor acceptor(io);
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(boost::asio::socket_base::reuse_address(true), error);
  // Each family has a socket of its own; an IPv6 one that took IPv4 too would be in the other's way.
  if (!error && local.family() == AddressFamily::ipv6) acceptor.set_option(boost::asio::ip::v6_only(true), error);
  // Those that it accepts have what it has (Linux), also where we die before we see them.
  if (!error && close == GracefulClose::receipted)
    acceptor.set_option(boost::asio::socket_base::linger(true, 0), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  const tcp::endpoint at = error ? tcp::endpoint() : acceptor.local_endpoint(error);
  if (error) return tl::unexpected(from_asio(error));
  return TcpAcceptor::Bound{std::move(acceptor), from_asio(at)};
}

Result<TcpPorts> TcpPorts::bind(boost::asio::io_context& io, const std::vector<Endpoint>& locals, GracefulClose close) {
  auto bound = bind_all(io, locals, close);
  // A port drawn in one family may be taken in the other; then another is drawn.
  const bool draws = locals.size() > 1 && locals.front().port() == 0;
  for (int drawn = 1; !bound && draws && drawn < kPortDraws; ++drawn) bound = bind_all(io, locals, close);
  return std::move(bound).map([](std::vector<TcpAcceptor::Bound> all) {
    TcpPorts ports;
    ports.bound_ = std::move(all);
    return ports;
  });
}

void TcpPorts::accept(const TcpAcceptor::SocketHandler& on_socket, const ShortageHandler& on_shortage) {
  for (TcpAcceptor::Bound& bound : bound_)
    acceptors_.emplace_back(std::move(bound), on_socket, [on_shortage](const Endpoint& local, std::error_code error) {
      on_shortage(local, {Errc::out_of_resources, "accept tcp " + local.to_string(), cause_of(error)});
    });
  bound_.clear();
}

void TcpPorts::pause() {
  for (TcpAcceptor& acceptor : acceptors_) acceptor.pause();
}

void TcpPorts::resume() {
  for (TcpAcceptor& acceptor : acceptors_) acceptor.resume();
}

std::vector<Endpoint> TcpPorts::local_endpoints() const {
  std::vector<Endpoint> locals;
  for (const TcpAcceptor& acceptor : acceptors_) locals.push_back(acceptor.local_endpoint());
  return locals;
}

}  // namespace udtcat::bridge
