// SPDX-License-Identifier: Apache-2.0
/// Pieces of memory on their way from one thread to another, without a copy.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace udtcat::trees {

/// Memory that has been emptied is used again. It has no bound of its own: its user asks size_bytes() before.
/// Threads: unsynchronised; the bytes of front() need no guard until consume().
class ChunkQueue {
 public:
  using Chunk = std::vector<std::byte>;

  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  void add(std::span<const std::byte> bytes) {
    size_bytes_ += bytes.size();
    if (!bytes.empty()) chunks_.emplace_back(bytes.begin(), bytes.end());
  }
  /// Takes the chunk itself, and leaves another one in its place, of any bytes.
  void give(Chunk& chunk) {
    size_bytes_ += chunk.size();
    if (!chunk.empty()) chunks_.push_back(std::exchange(chunk, spare()));
  }
  /// The oldest bytes; none: there are none.
  [[nodiscard]] std::span<const std::byte> front() const {
    return chunks_.empty() ? std::span<const std::byte>() : std::span(chunks_.front()).subspan(taken_);
  }
  /// Lets go of so many bytes of front().
  void consume(std::size_t bytes) {
    size_bytes_ -= bytes;
    taken_ += bytes;
    if (taken_ < chunks_.front().size()) return;
    if (spares_.size() < kSpares && chunks_.front().capacity() >= kWorthSparing)
      spares_.push_back(std::move(chunks_.front()));
    chunks_.pop_front();
    taken_ = 0;
  }

 private:
  static constexpr std::size_t kWorthSparing = 262'144;  // guess: to fill smaller ones with zeros costs little
  static constexpr std::size_t kSpares = 4;              // guess: of a leaf each, as many as are on their way

  [[nodiscard]] Chunk spare() {
    if (spares_.empty()) return {};
    Chunk chunk = std::move(spares_.back());
    spares_.pop_back();
    return chunk;
  }

  std::deque<Chunk> chunks_;
  std::vector<Chunk> spares_;
  std::size_t taken_ = 0;  // of the first chunk
  std::size_t size_bytes_ = 0;
};

}  // namespace udtcat::trees
