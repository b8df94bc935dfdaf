// SPDX-License-Identifier: Apache-2.0
/// Ports that nobody uses, and ports that the test itself holds.
#pragma once

#include <cstdint>

#include "support/descriptor.hpp"

namespace udtcat::test {

/// Free a moment ago, for UDP and TCP, on IPv4 and IPv6; no other call gives it out, here or in a test beside this one,
/// while this process lives, and the kernel gives it to no connection of its own accord. Threads: unsynchronised.
[[nodiscard]] std::uint16_t free_port();

/// A UDP socket bound to 127.0.0.1.
struct BoundUdp {
  Descriptor socket;
  std::uint16_t port = 0;
};
[[nodiscard]] BoundUdp bind_udp();

/// Sends `count` datagrams of random bytes, of all lengths a network carries, to 127.0.0.1.
void send_garbage(std::uint16_t port, int count);

}  // namespace udtcat::test
