// SPDX-License-Identifier: Apache-2.0
/// From endpoints to bound UDP sockets.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/net/udp_socket.hpp"

namespace udtcat::net {

struct BoundSocket {
  UdpSocket socket;
  Endpoint local;  ///< what is really bound: the port where 0 was asked
};

/// Binds every endpoint, all on the port of the first; where that is 0 a port is found that all of them can have.
/// before_bind   called for each with what is wanted, before its port exists
/// errors        Errc::bad_argument without endpoints; Errc::cannot_bind; those of before_bind
[[nodiscard]] Result<std::vector<BoundSocket>> bind_on_one_port(
    const std::vector<Endpoint>& locals, const std::function<Status(UdpSocket&, const Endpoint&)>& before_bind = {});

/// Any address of the family; any port.
[[nodiscard]] Endpoint wildcard(AddressFamily family);
/// 127.0.0.1 or ::1; any port.
[[nodiscard]] Endpoint loopback(AddressFamily family);

/// The largest IP packet that the way to `peer` takes at its first hop, as the system knows it.
[[nodiscard]] std::optional<std::size_t> first_hop_mtu(const Endpoint& peer);

}  // namespace udtcat::net
