// SPDX-License-Identifier: Apache-2.0
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
  if (std::holds_alternative<Open>(frame.body)) ++opens_;
  append_frame(control_, frame);
}

void BlockWriter::add_ready(MuxStream& stream) {
  if (!stream.can_fill()) return;
  Account& account = accounts_.try_emplace(&stream, Account{.turn = {.stream = &stream}}).first->second;
  // A stream that waited for credit still counts as bulk.
  if (!line_.contains(account.turn)) line_up(account, account.turn.has_more && account.start > virtual_time_);
}

void BlockWriter::forget(MuxStream& stream) {
  const auto found = accounts_.find(&stream);
  if (found == accounts_.end()) return;
  line_.erase(found->second.turn);
  accounts_.erase(found);
}

void BlockWriter::line_up(Account& account, bool has_more) {
  account.start = std::max(account.start, virtual_time_);
  // An interactive stream may be served a round early.
  const std::uint64_t lead = has_more ? 0 : std::min(account.start - virtual_time_, std::uint64_t{kQuantum});
  account.turn.round = (account.start - lead) / kQuantum;
  account.turn.has_more = has_more;
  account.turn.order = next_order_++;
  line_.insert(account.turn);
}

BlockWriter::Composed BlockWriter::compose(std::span<std::byte> payload, Content content,
                                           std::size_t most_interactive_bytes) {
  interactive_.clear();
  most_interactive_bytes_ = most_interactive_bytes;
  std::size_t used = take_control(payload);
  // Behind all control frames: a stream's OPEN may be the last.
  while (content != Content::control && !has_control() && payload.size() - used >= MuxStream::kMinFillBytes) {
    MuxStream* const stream = next_stream();
    if (stream == nullptr || (content == Content::interactive && line_.begin()->has_more)) break;
    used += take_turn(*stream, payload.subspan(used));
  }
  // A source that failed has queued its reset meanwhile; it goes with this block if it fits, with the next if not.
  if (used == 0) used = take_control(payload);
  return {used, interactive_};
}

std::size_t BlockWriter::take_control(std::span<std::byte> room) {
  std::size_t used = 0;
  while (has_control()) {
    const auto rest = std::span<const std::byte>(control_).subspan(control_begin_);
    const std::size_t frame_bytes = kFrameHeaderBytes + (core::load_be<std::uint32_t>(rest) & 0x00ff'ffff);
    if (frame_bytes > room.size() - used) return used;
    const auto frame = rest.first(frame_bytes);
    std::ranges::copy(frame, room.subspan(used).begin());
    if (is_open(frame)) {
      --opens_;
      if (interactive_.size() + frame_bytes <= most_interactive_bytes_)
        interactive_.insert(interactive_.end(), frame.begin(), frame.end());
    }
    used += frame_bytes;
    control_begin_ += frame_bytes;
  }
  control_.clear();
  control_begin_ = 0;
  return used;
}

bool BlockWriter::has_data() { return next_stream() != nullptr; }

bool BlockWriter::has_interactive() { return opens_ > 0 || (next_stream() != nullptr && !line_.begin()->has_more); }

/// None: no stream has anything to say.
MuxStream* BlockWriter::next_stream() {
  while (!line_.empty() && !line_.begin()->stream->can_fill()) line_.erase(line_.begin());
  return line_.empty() ? nullptr : line_.begin()->stream;
}

std::size_t BlockWriter::take_turn(MuxStream& stream, std::span<std::byte> room) {
  const std::uint64_t end_of_round = (line_.begin()->round + 1) * kQuantum - 1;
  line_.erase(line_.begin());
  // An early turn does not advance virtual_time_.
  virtual_time_ = std::max(virtual_time_, std::min(accounts_.at(&stream).start, end_of_round));
  const std::uint64_t offset = stream.sent_bytes();
  const std::size_t used = stream.fill(room);
  if (const std::uint64_t said = stream.sent_bytes() - offset; said > 0 && said <= most_interactive_bytes_)
    note_interactive(stream, room.subspan(kFrameHeaderBytes, static_cast<std::size_t>(said)), offset);
  const auto found = accounts_.find(&stream);
  if (found == accounts_.end()) return used;  // it has ended within fill()
  Account& account = found->second;
  line_.erase(account.turn);  // it may have found new bytes within fill()
  account.start += used;
  if (stream.can_fill()) line_up(account, room.size() - used < MuxStream::kMinFillBytes);
  return used;
}

/// A stream with more data is bulk: no early copy.
void BlockWriter::note_interactive(const MuxStream& stream, std::span<const std::byte> data, std::uint64_t offset) {
  if (stream.can_fill() || interactive_.size() + kEarlyOverheadBytes + data.size() > most_interactive_bytes_) return;
  append_frame(interactive_, {stream.id(), Early{offset, data}});
}

}  // namespace udtcat::connection
