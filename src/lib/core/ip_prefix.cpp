// SPDX-License-Identifier: Apache-2.0
#include "lib/core/ip_prefix.hpp"

#include <netinet/in.h>

#include <span>

#include "lib/core/byte_order.hpp"

namespace udtcat::core {

namespace {

constexpr Prefix kIpv6Mark = std::uint64_t{1} << 63;  // of no IPv4 address; every global IPv6 address begins with 001

}  // namespace

Prefix host_of(const Endpoint& endpoint) {
  // SAFETY: any object may be read as bytes
  const auto* const bytes = reinterpret_cast<const std::byte*>(endpoint.data());
  const std::span address(bytes, endpoint.size_bytes());
  if (endpoint.family() == AddressFamily::ipv4)
    return core::load_be<std::uint32_t>(address.subspan(offsetof(sockaddr_in, sin_addr)));
  if (endpoint.family() == AddressFamily::ipv6)
    return core::load_be<std::uint64_t>(address.subspan(offsetof(sockaddr_in6, sin6_addr))) | kIpv6Mark;
  return 0;
}

Prefix prefix_of(const Endpoint& endpoint) {
  constexpr int kDropped = 8;  // of an IPv4 address, or of the first 64 bits of an IPv6 address
  const Prefix mark = host_of(endpoint) & kIpv6Mark;
  return host_of(endpoint) >> kDropped | mark;
}

}  // namespace udtcat::core
