// SPDX-License-Identifier: Apache-2.0
#include "lib/core/chunk.hpp"

#include <array>
#include <new>
#include <vector>

namespace udtcat::core {

namespace {

constexpr std::size_t kLineBytes = 64;  // spec: a cache line of x86-64 and of most ARM
constexpr std::size_t kMaxIdle = 32;    // guess: what two receives of 16 trains need

/// The unit of a chunk's memory: aligned for the widest vector instructions, and not initialised.
struct alignas(kLineBytes) Line {
  std::array<std::byte, kLineBytes> bytes;
};

}  // namespace

/// An idle chunk is owned by its pool; one in use by its references, and it keeps the pool's state alive.
struct ChunkRef::Chunk {
  std::unique_ptr<Line[]> lines;
  std::size_t references = 0;
  std::shared_ptr<PoolState> pool;
};

struct ChunkRef::PoolState {
  std::size_t chunk_bytes = 0;
  std::size_t in_use = 0;
  std::size_t max_idle = kMaxIdle;
  std::vector<std::unique_ptr<Chunk>> idle;

  /// Null where there is no memory.
  [[nodiscard]] std::unique_ptr<Chunk> give() {
    if (idle.empty()) return fresh();
    auto chunk = std::move(idle.back());
    idle.pop_back();
    return chunk;
  }
  void take_back(std::unique_ptr<Chunk> chunk) {
    --in_use;
    if (idle.size() < max_idle) idle.push_back(std::move(chunk));
  }

 private:
  [[nodiscard]] std::unique_ptr<Chunk> fresh() const {
    std::unique_ptr<Chunk> chunk(new (std::nothrow) Chunk);
    if (chunk == nullptr) return nullptr;
    chunk->lines.reset(new (std::nothrow) Line[(chunk_bytes + kLineBytes - 1) / kLineBytes]);
    if (chunk->lines == nullptr) chunk.reset();
    return chunk;
  }
};

ChunkRef::ChunkRef(const ChunkRef& other) noexcept : chunk_(other.chunk_) {
  if (chunk_ != nullptr) ++chunk_->references;
}

ChunkRef::~ChunkRef() {
  if (chunk_ == nullptr || --chunk_->references != 0) return;
  // The pool may be gone: the last of its chunks ends the state that they shared.
  const auto pool = std::move(chunk_->pool);
  pool->take_back(std::unique_ptr<Chunk>(chunk_));
}

std::span<std::byte> ChunkRef::bytes() const {
  if (chunk_ == nullptr) return {};
  // SAFETY: the lines lie one behind the other and are nothing but bytes.
  return {reinterpret_cast<std::byte*>(chunk_->lines.get()), chunk_->pool->chunk_bytes};
}

ChunkPool::ChunkPool(std::size_t chunk_bytes) : state_(std::make_shared<ChunkRef::PoolState>()) {
  state_->chunk_bytes = chunk_bytes;
  state_->idle.reserve(kMaxIdle);
}

ChunkPool::~ChunkPool() {
  // The pool is gone, so a chunk that comes back is freed.
  state_->max_idle = 0;
  state_->idle.clear();
}

ChunkRef ChunkPool::acquire() {
  auto chunk = state_->give();
  if (chunk == nullptr) return {};
  ++state_->in_use;
  chunk->references = 1;
  chunk->pool = state_;
  return ChunkRef(chunk.release());
}

std::size_t ChunkPool::chunk_bytes() const { return state_->chunk_bytes; }

std::size_t ChunkPool::in_use() const { return state_->in_use; }

}  // namespace udtcat::core
