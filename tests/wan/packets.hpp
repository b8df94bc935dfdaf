// SPDX-License-Identifier: Apache-2.0
/// Packets as a TUN device hands them over, and what a wire would carry of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace udtcat::wan {

using Bytes = std::vector<std::byte>;

struct PacketKind {
  bool ipv6 = false;
  bool udp = false;
  std::size_t segment_bytes = 1000;
  std::uint16_t from_port = 0;
  std::uint16_t to_port = 0;
  [[nodiscard]] std::size_t transport_offset() const { return ipv6 ? 40 : 20; }
  [[nodiscard]] std::size_t header_bytes() const { return transport_offset() + (udp ? 8 : 32); }
};

/// A super-packet of `payload_bytes`, each of which tells its position; FIN, PSH and CWR are set. Not cut if it fits
/// one segment.
[[nodiscard]] Bytes make_packet(const PacketKind& kind, std::size_t payload_bytes);

/// Completes the transport checksum as a network card would, and then looks at both as a receiver would.
[[nodiscard]] bool checksums_hold(std::span<const std::byte> packet, const PacketKind& kind);

[[nodiscard]] inline std::uint16_t field16(std::span<const std::byte> packet, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(packet[at]) << 8 |
                                    std::to_integer<unsigned>(packet[at + 1]));
}

}  // namespace udtcat::wan
