/// Prefixes that one host or site controls as a whole.
#pragma once

#include <cstdint>

#include <udtcat/endpoint.hpp>

namespace udtcat::net {

/// The /24 of an IPv4 address, the /56 of an IPv6 address, as a number; never the same for the two families.
using Prefix = std::uint64_t;
[[nodiscard]] Prefix prefix_of(const Endpoint& endpoint);
/// What one host controls for certain: an IPv4 address, the /64 of an IPv6 address; never the same for the two families.
[[nodiscard]] Prefix host_of(const Endpoint& endpoint);

}  // namespace udtcat::net
