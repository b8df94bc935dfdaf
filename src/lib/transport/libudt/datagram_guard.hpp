// SPDX-License-Identifier: Apache-2.0
/// Keeps from libudt, in the kernel, the datagrams that it cannot bear.
///
/// libudt believes what it reads: one datagram from anybody can crash it, make it allocate gigabytes or end a
/// connection. It has no place where we could look first, so a socket filter does. It lives here and not in net,
/// because it knows UDT's wire format. What passes:
///
///   data        at most mss - 28 bytes with its header
///   handshake   exactly 48 bytes, version 4, STREAM, requests 1 and -1, with sane numbers; a rejection (1002) does not
///               pass, because libudt's asynchronous connect takes it for a connection: it becomes silence
///   ACK         4, 16 or 24 bytes, a sequence number, a round trip that can be true
///   NAK         whole words, at least one, not ending in the start of a range
///   keep-alive, shutdown, ACK2
///
/// Only handshakes may go to socket ID 0, and nothing else passes: congestion warning, message drop, error,
/// user-defined and unknown types are of no use to us. What only the state of a connection could tell (an ACK of data
/// not sent) passes; the session above notices.
#pragma once

#include <cstddef>

#include <udtcat/result.hpp>

#include "lib/net/udp_socket.hpp"

namespace udtcat::transport::libudt {

/// Filters what `socket` receives from now on.
/// mss             of this socket: longer datagrams would be cut short and believed
/// handshake_mss   the most that a peer may claim: a connector believes an answer, a listener takes the lesser
/// errors          Errc::cannot_bind
[[nodiscard]] Status attach_datagram_guard(const net::UdpSocket& socket, std::size_t mss, std::size_t handshake_mss);

}  // namespace udtcat::transport::libudt
