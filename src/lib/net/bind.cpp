// SPDX-License-Identifier: Apache-2.0
#include "lib/net/bind.hpp"

#include <utility>

#include <netinet/in.h>

#include "lib/core/try.hpp"

namespace udtcat::net {

namespace {

constexpr int kPortsToTry = 16;  // guess: a port free in one family is rarely taken in the other

using SocketPreparation = std::function<Status(UdpSocket&, const Endpoint&)>;

Result<BoundSocket> bind_one(const Endpoint& wanted, const SocketPreparation& before_bind) {
  UDTCAT_TRY(UdpSocket socket, UdpSocket::open(wanted.family()));
  if (before_bind) UDTCAT_CHECK(before_bind(socket, wanted));
  UDTCAT_CHECK(socket.bind(wanted));
  UDTCAT_TRY(const Endpoint local, socket.local_endpoint());
  return BoundSocket{std::move(socket), local};
}

Result<std::vector<BoundSocket>> bind_all(const std::vector<Endpoint>& locals, const SocketPreparation& before_bind) {
  std::vector<BoundSocket> bound;
  for (const Endpoint& local : locals) {
    UDTCAT_TRY(BoundSocket one,
               bind_one(bound.empty() ? local : local.with_port(bound.front().local.port()), before_bind));
    bound.push_back(std::move(one));
  }
  return bound;
}

Endpoint without_port(AddressFamily family, in_addr_t ipv4, const in6_addr& ipv6) {
  sockaddr_in address4{};
  address4.sin_family = AF_INET;
  address4.sin_addr.s_addr = htonl(ipv4);
  sockaddr_in6 address6{};
  address6.sin6_family = AF_INET6;
  address6.sin6_addr = ipv6;
  // SAFETY: each is the structure that its family says.
  const auto made = family == AddressFamily::ipv6
                        ? Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&address6), sizeof address6)
                        : Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&address4), sizeof address4);
  return made.value_or(Endpoint());
}

}  // namespace

Result<std::vector<BoundSocket>> bind_on_one_port(const std::vector<Endpoint>& locals,
                                                  const SocketPreparation& before_bind) {
  if (locals.empty()) return fail(Errc::bad_argument, "listen", "no address is given");
  auto bound = bind_all(locals, before_bind);
  for (int i = 1; !bound && locals.front().port() == 0 && i < kPortsToTry; ++i) bound = bind_all(locals, before_bind);
  return bound;
}

Endpoint wildcard(AddressFamily family) { return without_port(family, INADDR_ANY, in6addr_any); }

Endpoint loopback(AddressFamily family) { return without_port(family, INADDR_LOOPBACK, in6addr_loopback); }

std::optional<std::size_t> first_hop_mtu(const Endpoint& peer) {
  auto socket = UdpSocket::open(peer.family());
  if (!socket || !socket->connect(peer)) return std::nullopt;
  return socket->path_mtu();
}

}  // namespace udtcat::net
