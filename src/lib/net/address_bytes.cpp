// SPDX-License-Identifier: Apache-2.0
#include "lib/net/address_bytes.hpp"

#include <cstring>

#include <netinet/in.h>

namespace udtcat::net {

namespace {

std::optional<Endpoint> made(const void* address, std::size_t bytes) {
  const auto endpoint = Endpoint::from_sockaddr(static_cast<const sockaddr*>(address), bytes);
  return endpoint ? std::optional(*endpoint) : std::nullopt;
}

}  // namespace

std::span<const std::byte> address_bytes(const Endpoint& endpoint) {
  // SAFETY: any object may be read as bytes
  const std::span whole(reinterpret_cast<const std::byte*>(endpoint.data()), endpoint.size_bytes());
  if (endpoint.family() == AddressFamily::ipv4)
    return whole.subspan(offsetof(sockaddr_in, sin_addr), sizeof(sockaddr_in::sin_addr));
  if (endpoint.family() == AddressFamily::ipv6)
    return whole.subspan(offsetof(sockaddr_in6, sin6_addr), sizeof(sockaddr_in6::sin6_addr));
  return {};
}

std::optional<Endpoint> endpoint_of(std::span<const std::byte> address, std::uint16_t port) {
  if (address.size() == sizeof(sockaddr_in::sin_addr)) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    std::memcpy(&ipv4.sin_addr, address.data(), address.size());
    return made(&ipv4, sizeof ipv4);
  }
  if (address.size() != sizeof(sockaddr_in6::sin6_addr)) return std::nullopt;
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  std::memcpy(&ipv6.sin6_addr, address.data(), address.size());
  return made(&ipv6, sizeof ipv6);
}

}  // namespace udtcat::net
