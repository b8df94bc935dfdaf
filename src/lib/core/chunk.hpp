// SPDX-License-Identifier: Apache-2.0
/// Reference-counted memory for received datagrams, reused once the last reference has gone.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace udtcat::core {

class ChunkPool;

/// A counted reference to one chunk of a pool. The count is not atomic.
/// Threads: unsynchronised: all references to a pool's chunks stay on one thread. May outlive the pool.
class ChunkRef {
 public:
  ChunkRef() = default;
  ChunkRef(const ChunkRef& other) noexcept;
  ChunkRef(ChunkRef&& other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
  ChunkRef& operator=(ChunkRef other) noexcept {
    std::swap(chunk_, other.chunk_);
    return *this;
  }
  ~ChunkRef();

  [[nodiscard]] bool empty() const { return chunk_ == nullptr; }
  [[nodiscard]] std::span<std::byte> bytes() const;

 private:
  friend class ChunkPool;
  struct Chunk;
  struct PoolState;
  explicit ChunkRef(Chunk* chunk) : chunk_(chunk) {}
  Chunk* chunk_ = nullptr;
};

/// Hands out chunks of one size. Keeps a few idle ones; bounded by the holders of references.
/// Threads: unsynchronised.
class ChunkPool {
 public:
  explicit ChunkPool(std::size_t chunk_bytes);
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  [[nodiscard]] ChunkRef acquire();
  [[nodiscard]] std::size_t chunk_bytes() const;
  /// Chunks that are referred to now.
  [[nodiscard]] std::size_t in_use() const;

 private:
  std::shared_ptr<ChunkRef::PoolState> state_;
};

}  // namespace udtcat::core
