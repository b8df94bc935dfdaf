#include "lib/bridge/byte_ring.hpp"

#include <algorithm>

#include "lib/core/invariant.hpp"

namespace udtcat::bridge {

ByteRing::ByteRing(std::size_t capacity_bytes)
    : capacity_bytes_(capacity_bytes), memory_(std::make_unique_for_overwrite<std::byte[]>(capacity_bytes)) {}

std::span<std::byte> ByteRing::writable() {
  const std::size_t begin = (first_ + size_bytes_) % capacity_bytes_;
  return {memory_.get() + begin, std::min(free_bytes(), capacity_bytes_ - begin)};
}

void ByteRing::commit(std::size_t bytes) {
  UDTCAT_INVARIANT(bytes <= free_bytes(), "the producer fills no more than writable() gave it");
  size_bytes_ += bytes;
}

std::span<const std::byte> ByteRing::readable() const {
  return {memory_.get() + first_, std::min(size_bytes_, capacity_bytes_ - first_)};
}

void ByteRing::consume(std::size_t bytes) {
  UDTCAT_INVARIANT(bytes <= size_bytes_, "the consumer empties no more than readable() gave it");
  first_ = (first_ + bytes) % capacity_bytes_;
  size_bytes_ -= bytes;
}

}  // namespace udtcat::bridge
