// SPDX-License-Identifier: Apache-2.0
/// Bytes that are written and not acknowledged: referenced, never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/core/shared_bytes.hpp"
#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

/// The byte stream, in the pieces that the writer gave. Bounded by the writer, which waits for the completion of its
/// writes.
/// Threads: unsynchronised.
class SendQueue {
 public:
  void push(core::SharedBytes bytes);
  /// Offset in the stream past the last byte written.
  [[nodiscard]] std::uint64_t end_offset() const { return end_offset_; }
  /// Appends the pieces that make up [offset, offset + bytes).
  void gather(std::uint64_t offset, std::size_t bytes, std::vector<std::span<const std::byte>>& into) const;
  /// How many bytes from `offset` on there are, at most `most_bytes`, and in at most `most_pieces` pieces.
  [[nodiscard]] std::size_t contiguous(std::uint64_t offset, std::size_t most_bytes, std::size_t most_pieces) const;
  /// Frees what is before `offset`.
  void release_before(std::uint64_t offset);

 private:
  struct Piece {
    core::SharedBytes bytes;
    std::uint64_t begin = 0;
  };
  [[nodiscard]] std::uint64_t piece_at(std::uint64_t offset) const;

  IndexedRing<Piece> pieces_;
  std::uint64_t end_offset_ = 0;
  mutable std::uint64_t last_found_ = 0;  // where the next search begins: packets are made in order
};

}  // namespace udtcat::transport::native
