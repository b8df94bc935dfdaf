/// Prefixes that one host or site controls as a whole.
#pragma once

#include <cstdint>

#include <udtcat/endpoint.hpp>

namespace udtcat::core {

/// The first bits of an address, as a number; never the same for the two families.
using Prefix = std::uint64_t;

/// The prefix of a site: /24 or /56.
[[nodiscard]] Prefix prefix_of(const Endpoint& endpoint);
/// The prefix of a host: /32 or /64.
[[nodiscard]] Prefix host_of(const Endpoint& endpoint);

}  // namespace udtcat::core
