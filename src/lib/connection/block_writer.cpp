// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/block_writer.hpp"

#include <algorithm>
#include <iterator>

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
  if (stream.can_fill() && in_line_.insert(&stream).second) newcomers_.push_back(&stream);
}

void BlockWriter::forget(MuxStream& stream) {
  if (in_line_.erase(&stream) == 0) return;
  std::erase(newcomers_, &stream);
  std::erase(waiting_, &stream);
}

BlockWriter::Composed BlockWriter::compose(std::span<std::byte> payload, bool with_data, std::size_t most_words_bytes) {
  words_.clear();
  most_words_bytes_ = most_words_bytes;
  std::size_t used = take_control(payload);
  while (with_data && payload.size() - used >= MuxStream::kMinFillBytes) {
    auto* const line = next_line();
    if (line == nullptr) break;
    used += take_turn(*line, payload.subspan(used));
  }
  // A source that failed has queued its reset meanwhile; it goes with this block if it fits, with the next if not.
  if (used == 0) used = take_control(payload);
  return {used, words_};
}

std::size_t BlockWriter::take_control(std::span<std::byte> room) {
  std::size_t used = 0;
  while (has_control()) {
    const auto rest = std::span<const std::byte>(control_).subspan(control_begin_);
    const std::size_t frame_bytes = kFrameHeaderBytes + (core::load_be<std::uint32_t>(rest) & 0x00ff'ffff);
    if (frame_bytes > room.size() - used) return used;
    const auto frame = rest.first(frame_bytes);
    std::ranges::copy(frame, room.subspan(used).begin());
    if (is_open(frame) && words_.size() + frame_bytes <= most_words_bytes_)
      words_.insert(words_.end(), frame.begin(), frame.end());
    used += frame_bytes;
    control_begin_ += frame_bytes;
  }
  control_.clear();
  control_begin_ = 0;
  return used;
}

bool BlockWriter::has_data() { return next_line() != nullptr; }

/// The line whose first stream has the next turn; none: nobody has anything to say.
std::deque<MuxStream*>* BlockWriter::next_line() {
  for (auto* line : {&newcomers_, &waiting_})
    for (; !line->empty() && !line->front()->can_fill(); line->pop_front()) in_line_.erase(line->front());
  if (newcomers_.empty() && waiting_.empty()) return nullptr;
  const bool waited = newcomers_.empty() || (newcomer_was_last_ && !waiting_.empty());
  return waited ? &waiting_ : &newcomers_;
}

std::size_t BlockWriter::take_turn(std::deque<MuxStream*>& line, std::span<std::byte> room) {
  newcomer_was_last_ = &line == &newcomers_;
  MuxStream& stream = *line.front();
  line.pop_front();
  waiting_.push_back(&stream);  // said all or not: who finds nothing to say at his next turn is a newcomer again
  const std::uint64_t offset = stream.sent_bytes();
  const std::size_t used = stream.fill(room);
  if (const std::uint64_t said = stream.sent_bytes() - offset; said > 0 && said <= most_words_bytes_)
    note_words(stream, room.subspan(kFrameHeaderBytes, static_cast<std::size_t>(said)), offset);
  // It may have ended within fill(), and is forgotten then.
  const bool was_cut = used < kShortBytes && in_line_.contains(&stream) && stream.can_fill();
  if (was_cut) std::rotate(waiting_.begin(), std::prev(waiting_.end()), waiting_.end());
  return used;
}

/// Of a stream that would have said more the first bytes alone are no use.
void BlockWriter::note_words(const MuxStream& stream, std::span<const std::byte> data, std::uint64_t offset) {
  if (stream.can_fill() || words_.size() + kEarlyOverheadBytes + data.size() > most_words_bytes_) return;
  append_frame(words_, {stream.id(), Early{offset, data}});
}

}  // namespace udtcat::connection
