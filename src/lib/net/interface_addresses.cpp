// SPDX-License-Identifier: Apache-2.0
#include "lib/net/interface_addresses.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "lib/core/try.hpp"
#include "lib/net/udp_socket.hpp"

namespace udtcat::net {

namespace {

bool is_global_ipv4(const sockaddr_in& address) {
  const std::uint32_t host = ntohl(address.sin_addr.s_addr);
  const bool this_network = host >> 24U == 0;
  const bool link_local = host >> 16U == 0xa9fe;  // spec: RFC 3927, 169.254/16
  return !this_network && !link_local && !IN_MULTICAST(host) && host != INADDR_BROADCAST;
}

bool is_global_ipv6(const sockaddr_in6& address) {
  const in6_addr& host = address.sin6_addr;
  return !IN6_IS_ADDR_LINKLOCAL(&host) && !IN6_IS_ADDR_MULTICAST(&host) && !IN6_IS_ADDR_V4MAPPED(&host) &&
         !IN6_IS_ADDR_UNSPECIFIED(&host);
}

/// A copy, since the bytes of an Endpoint are no object of that type.
template <typename Address>
Address as(const Endpoint& endpoint) {
  Address address{};
  std::memcpy(&address, endpoint.data(), std::min(sizeof address, endpoint.size_bytes()));
  return address;
}

}  // namespace

bool is_global_unicast(const Endpoint& address) {
  if (address.is_wildcard() || address.is_loopback()) return false;
  if (address.family() == AddressFamily::ipv4) return is_global_ipv4(as<sockaddr_in>(address));
  return address.family() == AddressFamily::ipv6 && is_global_ipv6(as<sockaddr_in6>(address));
}

std::vector<Endpoint> interface_addresses() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(raw, ::freeifaddrs);
  std::vector<Endpoint> found;
  for (const ifaddrs* each = list.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const bool ipv6 = each->ifa_addr->sa_family == AF_INET6;
    auto address = Endpoint::from_sockaddr(each->ifa_addr, ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    if (address) found.push_back(*address);
  }
  return found;
}

Result<Endpoint> source_address(const Endpoint& destination) {
  UDTCAT_TRY(UdpSocket socket, UdpSocket::open(destination.family()));
  UDTCAT_CHECK(socket.connect(destination));
  UDTCAT_TRY(const Endpoint local, socket.local_endpoint());
  return local.with_port(0);
}

}  // namespace udtcat::net
