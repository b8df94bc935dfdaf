/// UDT's 31-bit packet sequence numbers, and the ever-growing index that everything in here counts with instead.
#pragma once

#include <cstdint>
#include <optional>

namespace udtcat::transport::native {

/// A packet's place in its direction of a connection: 0 for the first. Never wraps.
using PacketIndex = std::uint64_t;

/// The most packets that a receiver keeps apart from each other, whatever a peer claims.
inline constexpr std::uint32_t kMaxWindowPackets =
    1 << 20;  // guess: 1.5 GB of Internet packets; libudt allocates 24 bytes for each
inline constexpr std::uint32_t kSequenceMask = 0x7fff'ffff;  // spec: UDT4, bit 31 tells control from data

/// Translates between indices and what is on the wire.
/// Threads: immutable.
class SequenceSpace {
 public:
  explicit SequenceSpace(std::uint32_t initial) : initial_(initial & kSequenceMask) {}

  [[nodiscard]] std::uint32_t on_wire(PacketIndex index) const {
    return static_cast<std::uint32_t>(initial_ + index) & kSequenceMask;
  }
  /// The index nearest to `near` that looks like `sequence` on the wire. None for what lies before the first packet, and for
  /// a number with bit 31 set, which is no sequence number.
  [[nodiscard]] std::optional<PacketIndex> index_of(std::uint32_t sequence, PacketIndex near) const {
    if (sequence > kSequenceMask) return std::nullopt;
    const std::uint32_t ahead = (sequence - on_wire(near)) & kSequenceMask;
    constexpr std::uint32_t kHalf = 1U << 30;
    if (ahead < kHalf) return near + ahead;
    const std::uint32_t behind = (kSequenceMask + 1) - ahead;
    if (behind > near) return std::nullopt;
    return near - behind;
  }

 private:
  std::uint32_t initial_;
};

}  // namespace udtcat::transport::native
