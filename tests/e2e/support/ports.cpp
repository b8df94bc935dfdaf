#include "e2e/support/ports.hpp"

#include <bit>
#include <span>
#include <tuple>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "e2e/support/random_data.hpp"

namespace udtcat::e2e {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
const sockaddr* generic(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }
const sockaddr* generic(const sockaddr_in6& address) { return reinterpret_cast<const sockaddr*>(&address); }

/// Whether the wildcard of both families takes the port. A host without IPv6 has no say.
bool is_free(std::uint16_t port, int type) {
  const Descriptor socket(::socket(AF_INET6, type | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return true;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  return ::bind(socket.fd(), generic(address), sizeof address) == 0;
}

}  // namespace

BoundUdp bind_udp() {
  BoundUdp bound{.socket = Descriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  // SAFETY: as generic(), for an address that is written to.
  if (::bind(bound.socket.fd(), generic(address), length) != 0 ||
      ::getsockname(bound.socket.fd(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    die("bind a UDP port");
  }
  bound.port = ntohs(address.sin_port);
  return bound;
}

std::uint16_t free_port() {
  for (;;) {
    std::uint16_t port = bind_udp().port;
    if (is_free(port, SOCK_DGRAM) && is_free(port, SOCK_STREAM)) return port;
  }
}

void send_garbage(std::uint16_t port, int count) {
  constexpr std::size_t kMaxBytes = 1472;  // spec: Ethernet's MTU less the IPv4 and UDP headers
  const auto bytes = random_bytes(port, kMaxBytes * 2);
  const BoundUdp stranger = bind_udp();
  const sockaddr_in target = loopback(port);
  for (int i = 0; i < count; ++i) {
    const auto datagram = std::span(bytes).subspan(static_cast<std::size_t>(i) % kMaxBytes,
                                                   static_cast<std::size_t>(i * 7) % (kMaxBytes + 1));
    // A full or closed port is the listener's affair; the test judges the listener by what it does next.
    std::ignore = ::sendto(stranger.socket.fd(), datagram.data(), datagram.size(), 0, generic(target), sizeof target);
  }
}

}  // namespace udtcat::e2e
