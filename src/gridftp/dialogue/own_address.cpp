// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/own_address.hpp"

#include <memory>

#include <ifaddrs.h>
#include <netinet/in.h>
#include <boost/asio/io_context.hpp>

#include "gridftp/dialogue/control_connection.hpp"
#include "lib/bridge/asio_conversions.hpp"

namespace udtcat::gridftp {

namespace {

using boost::asio::ip::address;

/// Without a zone, and as IPv4 where it is that.
address plain_address(const Endpoint& endpoint) {
  const address given = bridge::to_asio(endpoint).address();
  if (given.is_v4()) return given;
  const boost::asio::ip::address_v6 without_zone(given.to_v6().to_bytes());
  if (without_zone.is_v4_mapped()) return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, without_zone);
  return without_zone;
}

bool is_of_an_interface(const address& wanted) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(all, ::freeifaddrs);
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const auto own =
        Endpoint::from_sockaddr(each->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    if (own && plain_address(*own) == wanted) return true;
  }
  return false;
}

}  // namespace

bool is_of_this_host(const Endpoint& endpoint) {
  const address wanted = plain_address(endpoint);
  if (wanted.is_loopback() || is_of_an_interface(wanted)) return true;
  // An address is this host's if the system would send to it from that address: routes of type local have no interface.
  boost::asio::io_context io;
  const Endpoint towards = bridge::from_asio(boost::asio::ip::tcp::endpoint(wanted, endpoint.port()));
  return plain_address(local_address_towards(io, towards)) == wanted;
}

}  // namespace udtcat::gridftp
