// SPDX-License-Identifier: Apache-2.0
/// Makes a connection begin at a sequence number of the test's choice, at an end that does not choose it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "support/udp_relay.hpp"

namespace udtcat::test::interop {

/// Rewrites every sequence number that passes, so that the listener sees a connection which begins at `first` while the
/// connector sees its own. One connection a relay.
class SequenceShift {
 public:
  SequenceShift(UdpRelay& relay, std::uint32_t first) {
    // Called on the relay's thread only.
    auto shift = std::make_shared<std::optional<std::uint32_t>>();
    relay.rewrite(Towards::listener, [shift, first](std::span<std::byte> datagram) {
      const PacketView packet(datagram);
      if (!*shift)
        if (const auto handshake = handshake_of(packet))
          *shift = advanced(first, -std::int64_t{handshake->initial_sequence});
      if (*shift) apply(datagram, **shift);
    });
    relay.rewrite(Towards::connector, [shift](std::span<std::byte> datagram) {
      if (*shift) apply(datagram, advanced(0, -std::int64_t{**shift}));
    });
  }

 private:
  static void apply(std::span<std::byte> datagram, std::uint32_t by) {
    const PacketView packet(datagram);
    const auto shifted = [&](std::uint32_t word) { return (word & kControlBit) | advanced(word & kSequenceMask, by); };
    if (packet.is_data()) put_word(datagram, 0, shifted(packet.sequence()));
    if (!packet.is_control() || packet.words() == 0) return;
    if (packet.is(Type::handshake) && packet.words() > 2) put_word(datagram, kHeaderBytes + 8, shifted(packet.word(2)));
    if (packet.is(Type::ack)) put_word(datagram, kHeaderBytes, shifted(packet.word(0)));
    if (packet.is(Type::nak))
      for (std::size_t i = 0; i < packet.words(); ++i)
        put_word(datagram, kHeaderBytes + 4 * i, shifted(packet.word(i)));
  }
};

}  // namespace udtcat::test::interop
