// SPDX-License-Identifier: Apache-2.0
/// Support of the tests of handshakes.
#pragma once

#include <array>
#include <cstdint>

#include "interop/interop_fixture.hpp"

namespace udtcat::test::interop {

inline bool is_handshake(const PacketView& packet) { return packet.is(Type::handshake); }

inline std::array<std::uint32_t, 4> reversed_loopback(AddressFamily family) {
  if (family == AddressFamily::ipv6) return {0, 0, 0, 0x01000000};
  return {0x0100007f, 0, 0, 0};
}

}  // namespace udtcat::test::interop
