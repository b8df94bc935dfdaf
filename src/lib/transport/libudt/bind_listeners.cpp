// From endpoints to listening UDT sockets.
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <fmt/format.h>
#include <udt/udt.h>

#include "lib/transport/libudt/datagram_guard.hpp"
#include "lib/transport/libudt/libudt_acceptor.hpp"
#include "lib/transport/libudt/libudt_error.hpp"

namespace udtcat::transport::libudt {

namespace {

constexpr int kBacklog = 16;                     // guess: strangers who wait cost about 1 MiB each inside libudt
constexpr int kPortsToTry = 16;                  // guess: a port free in one family is rarely taken in the other
constexpr std::size_t kAnyHandshakeMss = 65535;  // libudt takes the lesser of a client's MSS and its own

struct Bound {
  net::UdpSocket socket;
  Endpoint local;
  PacketSize size;
};

Result<Bound> bind_one(const Endpoint& wanted) {
  auto socket = net::UdpSocket::open(wanted.family());
  if (!socket) return tl::unexpected(socket.error());
  const PacketSize size = listening_packet_size(wanted.family(), net::interface_mtu(wanted));
  // Before the port exists, so that not one datagram comes past.
  if (auto guarded = attach_datagram_guard(*socket, {size.mss, kAnyHandshakeMss}); !guarded)
    return tl::unexpected(guarded.error());
  if (auto bound = socket->bind(wanted); !bound) return tl::unexpected(bound.error());
  if (auto kept = socket->keep_path_errors(); !kept) return tl::unexpected(kept.error());
  auto local = socket->local_endpoint();
  if (!local) return tl::unexpected(local.error());
  return Bound{std::move(*socket), *local, size};
}

/// All of them on the port of the first.
Result<std::vector<Bound>> bind_all(const std::vector<Endpoint>& locals) {
  std::vector<Bound> bound;
  for (const Endpoint& local : locals) {
    auto one = bind_one(bound.empty() ? local : local.with_port(bound.front().local.port()));
    if (!one) return tl::unexpected(one.error());
    bound.push_back(std::move(*one));
  }
  return bound;
}

Result<net::UdpSocket> any_port(AddressFamily family) {
  auto socket = net::UdpSocket::open(family);
  if (!socket) return socket;
  sockaddr_in loopback4{};
  loopback4.sin_family = AF_INET;
  loopback4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 loopback6{};
  loopback6.sin6_family = AF_INET6;
  loopback6.sin6_addr = in6addr_loopback;
  // SAFETY: each is the structure that its family says.
  const auto loopback = family == AddressFamily::ipv6
                            ? Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&loopback6), sizeof loopback6)
                            : Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&loopback4), sizeof loopback4);
  if (auto bound = socket->bind(*loopback); !bound) return tl::unexpected(bound.error());
  return socket;
}

/// `alias_needed`: another listener has the same port number. libudt finds the UDP socket of a new connection by the
/// port number of the listener alone, so it is to know each under a number of its own.
Result<Listener> listen_on(Bound bound, bool alias_needed, BitRate rate) {
  auto socket = UdtSocket::open(bound.local.family(), bound.size, rate);
  if (!socket) return tl::unexpected(socket.error());
  std::optional<net::UdpSocket> alias;
  if (alias_needed) {
    auto other_port = any_port(bound.local.family());
    if (!other_port) return tl::unexpected(other_port.error());
    alias.emplace(std::move(*other_port));
  }
  const auto running = alias ? socket->run_over(bound.socket, *alias) : socket->run_over(bound.socket);
  if (!running) return tl::unexpected(running.error());
  if (UDT::listen(socket->id(), kBacklog) == UDT::ERROR)
    return tl::unexpected(last_error(Errc::cannot_bind, fmt::format("listen at udp {}", bound.local.to_string())));
  return Listener{std::move(*socket), bound.local, std::make_shared<PortWatch>(std::move(bound.socket)),
                  std::move(alias)};
}

}  // namespace

Result<std::vector<Listener>> bind_listeners(const std::vector<Endpoint>& locals, BitRate rate) {
  if (locals.empty()) return fail(Errc::bad_argument, "listen", "no address is given");
  auto bound = bind_all(locals);
  for (int i = 1; !bound && locals.front().port() == 0 && i < kPortsToTry; ++i) bound = bind_all(locals);
  if (!bound) return tl::unexpected(bound.error());
  std::vector<Listener> listeners;
  for (Bound& each : *bound) {
    auto listener = listen_on(std::move(each), !listeners.empty(), rate);
    if (!listener) return tl::unexpected(listener.error());
    listeners.push_back(std::move(*listener));
  }
  return listeners;
}

}  // namespace udtcat::transport::libudt
