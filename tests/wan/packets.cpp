// SPDX-License-Identifier: Apache-2.0
#include "wan/packets.hpp"

#include <cstring>

#include "lib/core/byte_order.hpp"
#include "wan/super_packet.hpp"

namespace udtcat::wan {
namespace {

using core::store_be;

/// RFC 1071, byte by byte.
std::uint16_t ones_complement_sum(std::span<const std::byte> bytes, std::uint32_t sum) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += std::to_integer<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

std::uint32_t pseudo_header(std::span<const std::byte> ip, const PacketKind& kind) {
  const auto addresses = kind.ipv6 ? ip.subspan(8, 32) : ip.subspan(12, 8);
  const std::size_t length = ip.size() - kind.transport_offset();
  return ones_complement_sum(addresses, 0) + (kind.udp ? 17U : 6U) + static_cast<std::uint32_t>(length);
}

std::size_t checksum_offset(const PacketKind& kind) { return kind.udp ? 6 : 16; }

void write_virtio(std::span<std::byte> packet, const PacketKind& kind, bool cut) {
  // In the byte order of the machine: flags, type, header length, segment size, checksum start and offset.
  packet[0] = std::byte{1};
  if (cut) packet[1] = static_cast<std::byte>(kind.udp ? 5 : kind.ipv6 ? 4 : 1);
  const std::uint16_t fields[4] = {
      static_cast<std::uint16_t>(kind.header_bytes()), static_cast<std::uint16_t>(cut ? kind.segment_bytes : 0),
      static_cast<std::uint16_t>(kind.transport_offset()), static_cast<std::uint16_t>(checksum_offset(kind))};
  std::memcpy(packet.data() + 2, fields, sizeof fields);
}

void write_ip(std::span<std::byte> ip, const PacketKind& kind) {
  for (std::size_t i = kind.ipv6 ? 8 : 12; i < kind.transport_offset(); ++i) ip[i] = static_cast<std::byte>(i * 37);
  const std::uint8_t protocol = kind.udp ? 17 : 6;
  if (kind.ipv6) {
    ip[0] = std::byte{0x60};
    store_be(ip.subspan(4), static_cast<std::uint16_t>(ip.size() - 40));
    ip[6] = static_cast<std::byte>(protocol);
    return;
  }
  ip[0] = std::byte{0x45};
  store_be(ip.subspan(2), static_cast<std::uint16_t>(ip.size()));
  store_be(ip.subspan(4), std::uint16_t{0xfffe});  // the identification, about to wrap
  ip[8] = std::byte{64};
  ip[9] = static_cast<std::byte>(protocol);
  store_be(ip.subspan(10), static_cast<std::uint16_t>(~ones_complement_sum(ip.first(20), 0)));
}

}  // namespace

Bytes make_packet(const PacketKind& kind, std::size_t payload_bytes) {
  Bytes packet(kVirtioHeaderBytes + kind.header_bytes() + payload_bytes);
  write_virtio(packet, kind, payload_bytes > kind.segment_bytes);
  const auto ip = std::span(packet).subspan(kVirtioHeaderBytes);
  write_ip(ip, kind);
  const auto transport = ip.subspan(kind.transport_offset());
  store_be(transport, kind.from_port);
  store_be(transport.subspan(2), kind.to_port);
  if (kind.udp) {
    store_be(transport.subspan(4), static_cast<std::uint16_t>(transport.size()));
  } else {
    store_be(transport.subspan(4), std::uint32_t{0xffff'ff00});  // the sequence number, about to wrap
    transport[12] = std::byte{0x80};                             // 32 bytes of header
    transport[13] = std::byte{0x80 | 0x10 | 0x08 | 0x01};        // CWR, ACK, PSH, FIN
  }
  for (std::size_t i = 0; i < payload_bytes; ++i) ip[kind.header_bytes() + i] = static_cast<std::byte>(i * 131 >> 3);
  store_be(transport.subspan(checksum_offset(kind)), ones_complement_sum({}, pseudo_header(ip, kind)));
  return packet;
}

bool checksums_hold(std::span<const std::byte> packet, const PacketKind& kind) {
  const auto ip = packet.subspan(kVirtioHeaderBytes);
  Bytes transport(ip.begin() + static_cast<std::ptrdiff_t>(kind.transport_offset()), ip.end());
  // The card sums everything, the partial sum included, and puts the complement in its place.
  const auto completed = static_cast<std::uint16_t>(~ones_complement_sum(transport, 0));
  store_be(std::span(transport).subspan(checksum_offset(kind)), completed);
  const bool transport_holds = ones_complement_sum(transport, pseudo_header(ip, kind)) == 0xffff;
  const bool ip_holds = kind.ipv6 || ones_complement_sum(ip.first(20), 0) == 0xffff;
  return transport_holds && ip_holds;
}

}  // namespace udtcat::wan
