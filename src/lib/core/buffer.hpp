// SPDX-License-Identifier: Apache-2.0
/// Pooled, bounded memory for blocks. A buffer moves through the pipeline; its bytes do not.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace udtcat::core {

class BufferPool;

/// One fixed-size piece of a pool's memory, 64-byte aligned. Goes back to the pool when destroyed, which may
/// happen on any thread and after the pool object itself is gone.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  [[nodiscard]] bool empty() const { return memory_ == nullptr; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_, size_bytes_}; }

 private:
  friend class BufferPool;
  struct Shared;
  Buffer(std::shared_ptr<Shared> home, std::byte* memory, std::size_t size_bytes);
  void give_back() noexcept;

  std::shared_ptr<Shared> home_;
  std::byte* memory_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Hands out at most `limit` buffers at a time. When all are out, acquire() says so and the caller stops taking
/// input until one of its own has come back: memory is bounded by back-pressure. A few returned buffers are kept
/// for reuse, the memory of the others goes back to the system.
/// Threads: internally synchronised.
class BufferPool {
 public:
  BufferPool(std::size_t buffer_bytes, std::size_t limit);

  /// None if `limit` buffers are out, or the system has no memory. The bytes are whatever was there.
  [[nodiscard]] std::optional<Buffer> acquire();
  /// Buffers that are out now. Other threads may have changed it by the time it is read.
  [[nodiscard]] std::size_t in_use() const;
  [[nodiscard]] std::size_t buffer_bytes() const;

 private:
  std::shared_ptr<Buffer::Shared> shared_;
};

}  // namespace udtcat::core
