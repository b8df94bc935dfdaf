// SPDX-License-Identifier: Apache-2.0
#include "support/ports.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/bytes.hpp"

namespace udtcat::test {

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

/// A name that one process at a time can have, in the kernel's abstract namespace: it goes with the process, however
/// that ends.
Descriptor reserve(std::uint16_t port) {
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) die("make a unix socket");
  const std::string name = "udtcat-e2e-port-" + std::to_string(port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return {};
  return socket;
}

/// The lowest port that the kernel gives to whoever asks for none in particular.
std::uint16_t first_ephemeral_port() {
  std::uint32_t first = 32768;  // guess: Linux's default, where the system does not say
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  return static_cast<std::uint16_t>(std::clamp(first, 12'000U, 60'000U));
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
  constexpr std::uint16_t kPorts = 10'000;  // guess: more than a run of all tests takes at a time
  static const auto kFirst = static_cast<std::uint16_t>(first_ephemeral_port() - kPorts);
  static auto next = static_cast<std::uint16_t>(::getpid() * 16);  // tests that run at once begin apart
  static std::vector<Descriptor> reserved;
  for (;;) {
    const auto port = static_cast<std::uint16_t>(kFirst + next++ % kPorts);
    Descriptor reservation = reserve(port);
    if (!reservation.valid() || !is_free(port, SOCK_DGRAM) || !is_free(port, SOCK_STREAM)) continue;
    reserved.push_back(std::move(reservation));
    return port;
  }
}

void send_garbage(std::uint16_t port, int count) {
  constexpr std::size_t kMaxBytes = 1472;  // spec: Ethernet's MTU less the IPv4 and UDP headers
  const auto bytes = random_bytes(kMaxBytes * 2, port);
  const BoundUdp stranger = bind_udp();
  const sockaddr_in target = loopback(port);
  for (int i = 0; i < count; ++i) {
    const auto datagram = std::span(bytes).subspan(static_cast<std::size_t>(i) % kMaxBytes,
                                                   static_cast<std::size_t>(i * 7) % (kMaxBytes + 1));
    // A full or closed port is the listener's affair; the test judges the listener by what it does next.
    std::ignore = ::sendto(stranger.socket.fd(), datagram.data(), datagram.size(), 0, generic(target), sizeof target);
  }
}

}  // namespace udtcat::test
