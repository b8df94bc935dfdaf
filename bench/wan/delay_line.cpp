// SPDX-License-Identifier: Apache-2.0
#include "wan/delay_line.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::wan {

PacketPool::Memory PacketPool::take() {
  if (free_.empty()) return std::make_unique_for_overwrite<std::byte[]>(kMaxPacketBytes);
  Memory memory = std::move(free_.back());
  free_.pop_back();
  return memory;
}

void DelayLine::push(Packet packet, TimePoint due, bool late) {
  std::deque<HeldPacket>& line = late ? late_ : on_time_;
  // A delay that was shortened on the way must not reorder: then a packet waits for the one before it.
  if (!line.empty()) due = std::max(due, line.back().due);
  held_bytes_ += packet.memory_bytes();
  line.push_back({std::move(packet), due});
}

std::optional<TimePoint> DelayLine::next_due() const {
  if (on_time_.empty() && late_.empty()) return std::nullopt;
  if (late_.empty()) return on_time_.front().due;
  if (on_time_.empty()) return late_.front().due;
  return std::min(on_time_.front().due, late_.front().due);
}

std::optional<Packet> DelayLine::pop(TimePoint now) {
  const auto due = next_due();
  if (!due || *due > now) return std::nullopt;
  std::deque<HeldPacket>& line = !on_time_.empty() && on_time_.front().due == *due ? on_time_ : late_;
  Packet packet = std::move(line.front().packet);
  line.pop_front();
  held_bytes_ -= packet.memory_bytes();
  return packet;
}

}  // namespace udtcat::wan
