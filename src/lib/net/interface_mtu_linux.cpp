#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "lib/net/udp_socket.hpp"

namespace udtcat::net {

namespace {

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

std::optional<std::size_t> mtu_of(const UdpSocket& socket, const char* interface_name) {
  ifreq request{};
  std::strncpy(request.ifr_name, interface_name, sizeof request.ifr_name - 1);
  if (::ioctl(socket.descriptor(), SIOCGIFMTU, &request) != 0 || request.ifr_mtu <= 0) return std::nullopt;
  return static_cast<std::size_t>(request.ifr_mtu);
}

bool carries(const ifaddrs& interface, const Endpoint& local) {
  if (interface.ifa_addr == nullptr || (interface.ifa_flags & IFF_UP) == 0) return false;
  const bool ipv6 = local.family() == AddressFamily::ipv6;
  if (interface.ifa_addr->sa_family != (ipv6 ? AF_INET6 : AF_INET)) return false;
  if (local.is_wildcard()) return true;
  const auto address = Endpoint::from_sockaddr(interface.ifa_addr, ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  // 127.0.0.2 is nobody's listed address and still the loopback interface's.
  if (local.is_loopback()) return (interface.ifa_flags & IFF_LOOPBACK) != 0;
  return address && address->host_to_string() == local.host_to_string();
}

}  // namespace

std::optional<std::size_t> interface_mtu(const Endpoint& local) {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, FreeInterfaces> list(raw);
  const auto socket = UdpSocket::open(local.family());
  if (!socket) return std::nullopt;
  std::optional<std::size_t> largest;
  for (const ifaddrs* each = list.get(); each != nullptr; each = each->ifa_next) {
    if (!carries(*each, local)) continue;
    if (const auto mtu = mtu_of(*socket, each->ifa_name)) largest = std::max(largest.value_or(0), *mtu);
  }
  return largest;
}

}  // namespace udtcat::net
