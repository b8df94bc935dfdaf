// SPDX-License-Identifier: Apache-2.0
/// UDT's flow window: how far the peer has room for our packets.
#pragma once

#include <algorithm>
#include <cstdint>

#include <udtcat/units.hpp>

#include "lib/transport/native/acknowledgement.hpp"
#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

/// Threads: unsynchronised.
class FlowWindow {
 public:
  /// packets   as the handshake says
  explicit FlowWindow(std::uint32_t packets) : end_(std::min(packets, kMaxWindowPackets)) {}

  /// An ACK of all packets before `next`, whose data begin at `offset`. A light ACK has no window, and an older one
  /// than the latest an old window.
  void on_ack(PacketIndex next, std::uint64_t offset, const Acknowledgement& ack) {
    if (ack.is_light() || next < acknowledged_) return;
    acknowledged_ = next;
    end_ = next + std::min(*ack.window_packets, kMaxWindowPackets);
    if (ack.extended) end_offset_ = offset + std::uint64_t{ack.extended->free_kib} * kKiB;
  }
  /// Whether there is room for the packet, whose data end at `end_offset`.
  [[nodiscard]] bool takes(PacketIndex index, std::uint64_t end_offset) const {
    return index < end_ && end_offset <= end_offset_;
  }
  /// Of the latest ACK.
  [[nodiscard]] std::uint64_t packets() const { return end_ - acknowledged_; }

 private:
  PacketIndex end_;                        // one past the last packet for which there is room
  std::uint64_t end_offset_ = UINT64_MAX;  // and past the last byte, where the peer reports bytes
  PacketIndex acknowledged_ = 0;           // by the latest ACK: all before this one
};

}  // namespace udtcat::transport::native
