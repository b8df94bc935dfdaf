// SPDX-License-Identifier: Apache-2.0
/// The addresses of this host, and which of them others can use.
#pragma once

#include <vector>

#include <udtcat/endpoint.hpp>

namespace udtcat::net {

/// Neither loopback, link-local, multicast nor the wildcard: an address that other hosts can use, a private one
/// included.
[[nodiscard]] bool is_global_unicast(const Endpoint& address);

/// The addresses of the interfaces that are up, as the system lists them; empty if it will not.
[[nodiscard]] std::vector<Endpoint> interface_addresses();

}  // namespace udtcat::net
