// SPDX-License-Identifier: Apache-2.0
/// The packets of a TUN device that hands over many segments at a time, and how they come apart.
///
/// A super-packet is what the kernel makes of TCP or UDP data before it is cut for the wire: one IP packet of up to 64
/// KiB, with a virtio header that says where to cut. It crosses the lab whole; only where a segment is lost, late or
/// alone is it cut here. Source: the virtio specification, 5.1.6.2 "Packet Transmission"; Linux,
/// Documentation/networking/segmentation-offloads.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace udtcat::wan {

inline constexpr std::size_t kVirtioHeaderBytes = 10;  // spec: struct virtio_net_hdr
inline constexpr std::size_t kMaxPacketBytes =
    kVirtioHeaderBytes + 64 * 1024;  // spec: an IP packet's length has 16 bits

/// A packet's layout on the wire.
struct Shape {
  std::size_t header_bytes =
      0;  ///< IP and transport headers, which every segment repeats; 0 for a packet that is not cut
  std::size_t payload_bytes = 0;  ///< of all segments
  std::size_t segment_bytes = 0;  ///< the payload of each segment but the last
  std::size_t segments = 0;

  /// The IP bytes of the segments [first, first + count).
  [[nodiscard]] std::size_t wire_bytes(std::size_t first, std::size_t count) const;
  [[nodiscard]] std::size_t largest_wire_bytes() const { return wire_bytes(0, 1); }
};

/// packet   as read from the device: virtio header, then IP
/// returns  none for what is no IP packet, or says of itself what cannot be
[[nodiscard]] std::optional<Shape> shape_of(std::span<const std::byte> packet);

/// Writes the packet that holds the segments [first, first + count) alone: lengths, sequence number, flags and
/// checksums mended.
///
/// into     at least as long as `packet`
/// returns  the bytes written
std::size_t copy_segments(std::span<const std::byte> packet, const Shape& shape, std::size_t first, std::size_t count,
                          std::span<std::byte> into);

}  // namespace udtcat::wan
