/// Descriptor numbers for libudt that nobody else will get.
///
/// When libudt takes a UDP socket down, it first closes the descriptor and only then stops the thread that reads from
/// it. A file that another thread opens in between gets the lowest free number; if that is the one just closed,
/// libudt's thread takes bytes out of it. Numbers far up the table, each used once in a long while, are never the
/// lowest free.
#pragma once

#include <udtcat/result.hpp>

#include "lib/net/udp_socket.hpp"

namespace udtcat::transport::libudt {

/// errors: Errc::out_of_resources
[[nodiscard]] Result<net::UdpSocket> duplicate_high(const net::UdpSocket& socket);

/// Makes `descriptor` mean `socket` instead of what it means now, with that one's receive timeout, on which libudt's
/// reading thread depends.  errors: Errc::out_of_resources
[[nodiscard]] Status replace_descriptor(int descriptor, const net::UdpSocket& socket);

}  // namespace udtcat::transport::libudt
