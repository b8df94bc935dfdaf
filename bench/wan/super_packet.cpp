// SPDX-License-Identifier: Apache-2.0
#include "wan/super_packet.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "lib/core/byte_order.hpp"

namespace udtcat::wan {
namespace {

using core::load_be;
using core::store_be;

/// spec: virtio 1.2, 5.1.6, "struct virtio_net_hdr", in the byte order of the machine; linux/virtio_net.h is not C++
struct VirtioHeader {
  std::uint8_t flags;
  std::uint8_t gso_type;
  std::uint16_t header_bytes;
  std::uint16_t gso_size;    // payload bytes of each segment
  std::uint16_t csum_start;  // where the transport header begins
  std::uint16_t csum_offset;
};
static_assert(sizeof(VirtioHeader) == kVirtioHeaderBytes);
constexpr std::uint8_t kNeedsChecksum = 1;  // spec: VIRTIO_NET_HDR_F_NEEDS_CSUM
constexpr std::uint8_t kGsoNone = 0;        // spec: VIRTIO_NET_HDR_GSO_NONE
constexpr std::uint8_t kGsoUdp = 5;         // spec: VIRTIO_NET_HDR_GSO_UDP_L4, newer than Debian 12's headers
constexpr std::uint8_t kGsoEcn = 0x80;      // spec: VIRTIO_NET_HDR_GSO_ECN, a flag beside the type
constexpr std::size_t kIpv6HeaderBytes = 40;
constexpr std::size_t kUdpHeaderBytes = 8;
constexpr std::size_t kTcpMinHeaderBytes = 20;
constexpr std::byte kTcpFin{0x01};
constexpr std::byte kTcpPsh{0x08};
constexpr std::byte kTcpCwr{0x80};
constexpr std::uint8_t kProtocolTcp = 6;
constexpr std::uint8_t kProtocolUdp = 17;

VirtioHeader load_virtio(std::span<const std::byte> packet) {
  VirtioHeader header{};
  std::memcpy(&header, packet.data(), sizeof header);
  return header;
}

int ip_version(std::span<const std::byte> ip) { return std::to_integer<int>(ip[0] >> 4); }

/// RFC 1071: the one's complement sum, not yet folded.
std::uint64_t sum_of(std::span<const std::byte> bytes, std::uint64_t sum = 0) {
  std::size_t at = 0;
  for (; at + 1 < bytes.size(); at += 2) sum += load_be<std::uint16_t>(bytes.subspan(at));
  if (at < bytes.size()) sum += std::to_integer<std::uint64_t>(bytes[at]) << 8;
  return sum;
}

std::uint16_t fold(std::uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

/// A transport checksum that waits to be completed: the sum of the pseudo-header.
std::uint16_t pseudo_header_sum(std::span<const std::byte> ip, std::size_t transport_offset, std::uint8_t protocol) {
  const auto addresses = ip_version(ip) == 4 ? ip.subspan(12, 8) : ip.subspan(8, 32);
  return fold(sum_of(addresses, protocol) + (ip.size() - transport_offset));
}

void mend_ip(std::span<std::byte> ip, std::size_t ip_header_bytes, std::size_t first_segment) {
  if (ip_version(ip) == 6) {
    store_be(ip.subspan(4), static_cast<std::uint16_t>(ip.size() - kIpv6HeaderBytes));
    return;
  }
  store_be(ip.subspan(2), static_cast<std::uint16_t>(ip.size()));
  const auto id = load_be<std::uint16_t>(ip.subspan(4));
  store_be(ip.subspan(4), static_cast<std::uint16_t>(id + first_segment));
  store_be(ip.subspan(10), std::uint16_t{0});
  store_be(ip.subspan(10), static_cast<std::uint16_t>(~fold(sum_of(ip.first(ip_header_bytes)))));
}

void mend_tcp(std::span<std::byte> tcp, std::size_t bytes_before, bool is_first, bool is_last) {
  store_be(tcp.subspan(4), static_cast<std::uint32_t>(load_be<std::uint32_t>(tcp.subspan(4)) + bytes_before));
  if (!is_first) tcp[13] &= ~kTcpCwr;
  if (!is_last) tcp[13] &= ~(kTcpFin | kTcpPsh);
}

}  // namespace

std::size_t Shape::wire_bytes(std::size_t first, std::size_t count) const {
  const std::size_t begin = first * segment_bytes;
  const std::size_t end = std::min(payload_bytes, (first + count) * segment_bytes);
  return count * header_bytes + (end - begin);
}

std::optional<Shape> shape_of(std::span<const std::byte> packet) {
  if (packet.size() <= kVirtioHeaderBytes) return std::nullopt;
  const VirtioHeader virtio = load_virtio(packet);
  const auto ip = packet.subspan(kVirtioHeaderBytes);
  const int version = ip_version(ip);
  if (version != 4 && version != 6) return std::nullopt;
  if (virtio.gso_type == kGsoNone)
    return Shape{.header_bytes = 0, .payload_bytes = ip.size(), .segment_bytes = ip.size(), .segments = 1};
  // A packet that is to be cut has its transport checksum still to be completed, and that says where the transport
  // header begins.
  if ((virtio.flags & kNeedsChecksum) == 0 || virtio.gso_size == 0) return std::nullopt;
  const std::size_t transport = virtio.csum_start;
  const bool udp = (virtio.gso_type & ~kGsoEcn) == kGsoUdp;
  constexpr std::size_t kIpMinHeaderBytes = 20;
  if (transport < kIpMinHeaderBytes || ip.size() < transport + (udp ? kUdpHeaderBytes : kTcpMinHeaderBytes))
    return std::nullopt;
  const std::size_t header =
      transport + (udp ? kUdpHeaderBytes : std::size_t{4} * std::to_integer<std::size_t>(ip[transport + 12] >> 4));
  if (header >= ip.size()) return std::nullopt;
  const std::size_t payload = ip.size() - header;
  return Shape{.header_bytes = header,
               .payload_bytes = payload,
               .segment_bytes = virtio.gso_size,
               .segments = (payload + virtio.gso_size - 1) / virtio.gso_size};
}

std::size_t copy_segments(std::span<const std::byte> packet, const Shape& shape, std::size_t first, std::size_t count,
                          std::span<std::byte> into) {
  if (count == shape.segments) {
    std::ranges::copy(packet, into.begin());
    return packet.size();
  }
  const auto source = packet.subspan(kVirtioHeaderBytes);
  const std::size_t begin = first * shape.segment_bytes;
  const std::size_t end = std::min(shape.payload_bytes, (first + count) * shape.segment_bytes);
  const auto ip = into.subspan(kVirtioHeaderBytes, shape.header_bytes + (end - begin));
  std::ranges::copy(source.first(shape.header_bytes), ip.begin());
  std::ranges::copy(source.subspan(shape.header_bytes + begin, end - begin), ip.subspan(shape.header_bytes).begin());

  VirtioHeader virtio = load_virtio(packet);
  const bool udp = (virtio.gso_type & ~kGsoEcn) == kGsoUdp;
  const std::size_t transport = virtio.csum_start;
  virtio.header_bytes = static_cast<std::uint16_t>(shape.header_bytes);  // the kernel's may be longer than the piece
  if (count == 1) virtio.gso_type = kGsoNone;
  if (count == 1) virtio.gso_size = 0;
  std::memcpy(into.data(), &virtio, sizeof virtio);

  mend_ip(ip, transport, first);
  if (udp)
    store_be(ip.subspan(transport + 4), static_cast<std::uint16_t>(ip.size() - transport));
  else
    mend_tcp(ip.subspan(transport), begin, first == 0, first + count == shape.segments);
  store_be(ip.subspan(transport + virtio.csum_offset),
           pseudo_header_sum(ip, transport, udp ? kProtocolUdp : kProtocolTcp));
  return kVirtioHeaderBytes + ip.size();
}

}  // namespace udtcat::wan
