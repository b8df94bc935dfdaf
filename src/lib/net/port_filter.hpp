// SPDX-License-Identifier: Apache-2.0
/// The filter by which the kernel chooses, among the sockets of one UDP port (SO_REUSEPORT), the one that gets a
/// datagram.
///
///   datagram ─► (destination id) mod ports ─► a port ─► (first word / run) mod sockets ─► a socket of that port
#pragma once

#include <cstdint>

#include <udtcat/result.hpp>

#include "lib/net/udp_socket.hpp"

namespace udtcat::net {

/// Handshakes, STUN, and what is too short to say for whom it is are the first port's.
struct PortFilter {
  std::uint32_t ports = 1;        ///< that the ids of connections are dealt to
  std::uint32_t open_ports = 1;   ///< of them; those that are not open yet are the first
  std::uint32_t sockets = 1;      ///< of each port
  std::uint32_t run_packets = 1;  ///< that go to one socket before the next has its turn
};

/// Lets others bind the same port that do so, too; only before there are others.  errors: Errc::cannot_bind
[[nodiscard]] Status share_port(const UdpSocket& socket);

/// socket   any of those that share the port; they are numbered as they were bound.  errors: Errc::cannot_bind
[[nodiscard]] Status attach(const UdpSocket& socket, const PortFilter& filter);

}  // namespace udtcat::net
