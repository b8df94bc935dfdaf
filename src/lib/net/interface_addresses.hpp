// SPDX-License-Identifier: Apache-2.0
/// The addresses of this host, and which of them others can use.
#pragma once

#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::net {

/// Neither loopback, link-local, multicast nor the wildcard: an address that other hosts can use, a private one
/// included.
[[nodiscard]] bool is_global_unicast(const Endpoint& address);

/// The addresses of the interfaces that are up, as the system lists them; empty if it will not.
[[nodiscard]] std::vector<Endpoint> interface_addresses();

/// The address of this host from which packets to `destination` leave, by its routes; port 0. Nothing is sent.
/// errors: Errc::cannot_bind, Errc::out_of_resources; Errc::cannot_reach: there is no way to it
[[nodiscard]] Result<Endpoint> source_address(const Endpoint& destination);

}  // namespace udtcat::net
