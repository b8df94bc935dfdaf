#include "lib/connection/block_writer.hpp"

#include <algorithm>

#include "lib/core/byte_order.hpp"

namespace udtcat::connection {

void BlockWriter::queue(const Frame& frame) {
  // Sent bytes are dropped before they are half of the vector, also when the queue never runs empty.
  if (control_begin_ > 0 && control_begin_ >= control_.size() / 2) {
    control_.erase(control_.begin(), control_.begin() + static_cast<std::ptrdiff_t>(control_begin_));
    control_begin_ = 0;
  }
  append_frame(control_, frame);
}

void BlockWriter::add_ready(MuxStream& stream) {
  if (stream.can_fill() && in_ready_.insert(&stream).second) ready_.push_back(&stream);
}

void BlockWriter::forget(MuxStream& stream) {
  if (in_ready_.erase(&stream) > 0) std::erase(ready_, &stream);
}

std::size_t BlockWriter::compose(std::span<std::byte> payload, bool with_data) {
  std::size_t used = take_control(payload);
  while (with_data && !ready_.empty() && payload.size() - used >= MuxStream::kMinFillBytes)
    used += take_turn(payload.subspan(used));
  // A source that failed has queued its reset meanwhile; it goes with this block if it fits, with the next if not.
  if (used == 0) used = take_control(payload);
  return used;
}

std::size_t BlockWriter::take_control(std::span<std::byte> room) {
  std::size_t used = 0;
  while (has_control()) {
    const auto rest = std::span<const std::byte>(control_).subspan(control_begin_);
    const std::size_t frame_bytes = kFrameHeaderBytes + (core::load_be<std::uint32_t>(rest) & 0x00ff'ffff);
    if (frame_bytes > room.size() - used) return used;
    std::ranges::copy(rest.first(frame_bytes), room.subspan(used).begin());
    used += frame_bytes;
    control_begin_ += frame_bytes;
  }
  control_.clear();
  control_begin_ = 0;
  return used;
}

std::size_t BlockWriter::take_turn(std::span<std::byte> room) {
  MuxStream& stream = *ready_.front();
  ready_.pop_front();
  if (!stream.can_fill()) {
    in_ready_.erase(&stream);
    return 0;
  }
  const bool alone = ready_.empty();
  const std::size_t used = stream.fill(alone ? room : room.first(std::min(room.size(), kTurnBytes)));
  if (!in_ready_.contains(&stream)) return used;  // it ended within fill() and was forgotten
  if (stream.can_fill())
    ready_.push_back(&stream);
  else
    in_ready_.erase(&stream);
  return used;
}

}  // namespace udtcat::connection
