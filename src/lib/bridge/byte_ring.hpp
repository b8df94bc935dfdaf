/// A fixed piece of memory that bytes pass through in order.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace udtcat::bridge {

/// One producer fills writable() and commits, one consumer empties readable() and consumes; the two spans never
/// overlap. Full or empty is an empty span: who fills waits, who empties comes again.
/// Threads: unsynchronised; a user with two threads guards the calls, and needs no guard on the spans' bytes.
class ByteRing {
 public:
  explicit ByteRing(std::size_t capacity_bytes);

  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::size_t free_bytes() const { return capacity_bytes_ - size_bytes_; }
  /// The free bytes up to the end of the memory, valid until commit().
  [[nodiscard]] std::span<std::byte> writable();
  void commit(std::size_t bytes);
  /// The oldest bytes up to the end of the memory, valid until consume().
  [[nodiscard]] std::span<const std::byte> readable() const;
  void consume(std::size_t bytes);

 private:
  const std::size_t capacity_bytes_;
  const std::unique_ptr<std::byte[]> memory_;
  std::size_t first_ = 0;  // where the oldest byte is
  std::size_t size_bytes_ = 0;
};

}  // namespace udtcat::bridge
