// SPDX-License-Identifier: Apache-2.0
/// Whether an address leads to this very host.
#pragma once

#include <udtcat/endpoint.hpp>

namespace udtcat::gridftp {

/// Loopback, an address of any interface, and whatever else the system routes to itself, also where an IPv4 address is
/// written as an IPv6 one. An address that only a router translates to this host's is not known here.
[[nodiscard]] bool is_of_this_host(const Endpoint& endpoint);

}  // namespace udtcat::gridftp
