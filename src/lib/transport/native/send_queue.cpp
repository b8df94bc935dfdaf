// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/send_queue.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::transport::native {

void SendQueue::push(core::SharedBytes bytes) {
  if (bytes.size() == 0) return;
  const std::uint64_t begin = end_offset_;
  end_offset_ += bytes.size();
  pieces_.push_back({std::move(bytes), begin});
}

/// The number of the piece that holds `offset`, which some piece does.
std::uint64_t SendQueue::piece_at(std::uint64_t offset) const {
  const auto holds = [&](std::uint64_t index) {
    return pieces_.contains(index) && pieces_[index].begin <= offset &&
           offset - pieces_[index].begin < pieces_[index].bytes.size();
  };
  if (holds(last_found_)) return last_found_;
  if (holds(last_found_ + 1)) return ++last_found_;
  std::uint64_t low = pieces_.begin_index();
  std::uint64_t high = pieces_.end_index();
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (pieces_[middle].begin <= offset ? low : high) = middle;
  }
  return last_found_ = low;
}

void SendQueue::gather(std::uint64_t offset, std::size_t bytes, std::vector<std::span<const std::byte>>& into) const {
  for (std::uint64_t index = piece_at(offset); bytes > 0; ++index) {
    const Piece& piece = pieces_[index];
    const auto rest = piece.bytes.bytes().subspan(static_cast<std::size_t>(offset - piece.begin));
    const std::size_t taken = std::min(bytes, rest.size());
    into.push_back(rest.first(taken));
    offset += taken;
    bytes -= taken;
  }
}

std::size_t SendQueue::contiguous(std::uint64_t offset, std::size_t most_bytes, std::size_t most_pieces) const {
  if (offset >= end_offset_) return 0;
  std::size_t bytes = 0;
  const std::uint64_t first = piece_at(offset);
  for (std::uint64_t index = first; index < pieces_.end_index() && index - first < most_pieces && bytes < most_bytes;
       ++index)
    bytes = static_cast<std::size_t>(pieces_[index].begin + pieces_[index].bytes.size() - offset);
  return std::min(bytes, most_bytes);
}

void SendQueue::release_before(std::uint64_t offset) {
  while (!pieces_.empty()) {
    const Piece& front = pieces_[pieces_.begin_index()];
    if (front.begin + front.bytes.size() > offset) return;
    pieces_.pop_front();
  }
}

}  // namespace udtcat::transport::native
