// SPDX-License-Identifier: Apache-2.0
/// Packets on their way: kept until they are due.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "wan/super_packet.hpp"
#include "wan/time.hpp"

namespace udtcat::wan {

/// Memory for packets, used again and again: a new page for each would cost more than the copy. Small packets have
/// memory of their own size. Threads: unsynchronised.
class PacketPool {
 public:
  using Memory = std::unique_ptr<std::byte[]>;

  /// For any packet.
  [[nodiscard]] Memory take();
  void give_back(Memory memory) { free_.push_back(std::move(memory)); }

 private:
  std::vector<Memory> free_;
};

struct Packet {
  PacketPool::Memory memory;
  std::size_t bytes = 0;
  bool pooled = false;

  [[nodiscard]] std::size_t memory_bytes() const { return pooled ? kMaxPacketBytes : bytes; }
  [[nodiscard]] std::span<const std::byte> view() const { return {memory.get(), bytes}; }
};

/// In the order of their times: first in, first out, but for those that are late. Bounded by kMaxHeldBytes; what comes
/// on top is refused, and counts as dropped. Threads: unsynchronised.
class DelayLine {
 public:
  [[nodiscard]] bool has_room() const { return held_bytes_ < kMaxHeldBytes; }
  void push(Packet packet, TimePoint due, bool late);
  /// When the first is due.
  [[nodiscard]] std::optional<TimePoint> next_due() const;
  /// The first, if it is due.
  [[nodiscard]] std::optional<Packet> pop(TimePoint now);

  static constexpr std::size_t kMaxHeldBytes = std::size_t{2} << 30;  // guess: 10 Gbit/s for 1.6 s

 private:
  struct HeldPacket {
    Packet packet;
    TimePoint due;
  };
  std::deque<HeldPacket> on_time_;  // each is due no earlier than the one before it
  std::deque<HeldPacket> late_;     // the same
  std::size_t held_bytes_ = 0;
};

}  // namespace udtcat::wan
