#include "net/prefix.hpp"

#include <netinet/in.h>

#include <cstddef>
#include <span>

#include "core/byte_order.hpp"

namespace udtcat::net {

namespace {

constexpr int kIpv4Dropped = 8;                       // of 32 bits: a /24
constexpr int kIpv6Dropped = 8;                       // of the first 64 bits: a /56
constexpr Prefix kIpv6Mark = std::uint64_t{1} << 63;  // the 56 bits end below it

}  // namespace

Prefix prefix_of(const Endpoint& endpoint) {
  const auto* const bytes =
      reinterpret_cast<const std::byte*>(endpoint.data());  // SAFETY: any object may be read as bytes
  const std::span address(bytes, endpoint.size_bytes());
  if (endpoint.family() == AddressFamily::ipv4)
    return core::load_be<std::uint32_t>(address.subspan(offsetof(sockaddr_in, sin_addr))) >> kIpv4Dropped;
  if (endpoint.family() == AddressFamily::ipv6)
    return core::load_be<std::uint64_t>(address.subspan(offsetof(sockaddr_in6, sin6_addr))) >> kIpv6Dropped | kIpv6Mark;
  return 0;
}

}  // namespace udtcat::net
