// SPDX-License-Identifier: Apache-2.0
/// A fixed piece of memory that bytes pass through in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "lib/core/invariant.hpp"

namespace udtcat::bridge {

/// One producer fills writable() and commits, one consumer empties readable() and consumes; the two spans never
/// overlap. A full ring has no writable byte, an empty one no readable byte.
/// Threads: unsynchronised; a user with two threads guards the calls, and needs no guard on the spans' bytes.
class ByteRing {
 public:
  explicit ByteRing(std::size_t capacity_bytes)
      : capacity_bytes_(capacity_bytes), memory_(std::make_unique_for_overwrite<std::byte[]>(capacity_bytes)) {}

  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::size_t free_bytes() const { return capacity_bytes_ - size_bytes_; }
  /// The free bytes up to the end of the memory, valid until commit().
  [[nodiscard]] std::span<std::byte> writable() {
    const std::size_t begin = (first_ + size_bytes_) % capacity_bytes_;
    return {memory_.get() + begin, std::min(free_bytes(), capacity_bytes_ - begin)};
  }
  void commit(std::size_t bytes) {
    UDTCAT_INVARIANT(bytes <= free_bytes(), "the producer fills no more than writable() gave it");
    size_bytes_ += bytes;
  }
  /// The oldest bytes up to the end of the memory, valid until consume().
  [[nodiscard]] std::span<const std::byte> readable() const {
    return {memory_.get() + first_, std::min(size_bytes_, capacity_bytes_ - first_)};
  }
  /// The oldest `bytes`, at most size_bytes(), valid until consume(); the second piece is empty where they lie in one.
  [[nodiscard]] std::pair<std::span<const std::byte>, std::span<const std::byte>> readable_in_two(
      std::size_t bytes) const {
    const std::size_t to_end = std::min(bytes, capacity_bytes_ - first_);
    return {{memory_.get() + first_, to_end}, {memory_.get(), bytes - to_end}};
  }
  void consume(std::size_t bytes) {
    UDTCAT_INVARIANT(bytes <= size_bytes_, "the consumer empties no more than readable() gave it");
    first_ = (first_ + bytes) % capacity_bytes_;
    size_bytes_ -= bytes;
  }

  /// Where it is empty its memory is used from the beginning again, so that little of it is resident.  No span is in
  /// use.
  void rewind() {
    if (size_bytes_ == 0) first_ = 0;
  }

 private:
  const std::size_t capacity_bytes_;
  const std::unique_ptr<std::byte[]> memory_;
  std::size_t first_ = 0;  // where the oldest byte is
  std::size_t size_bytes_ = 0;
};

}  // namespace udtcat::bridge
