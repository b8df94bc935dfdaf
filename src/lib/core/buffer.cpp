// SPDX-License-Identifier: Apache-2.0
#include "lib/core/buffer.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "lib/core/invariant.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::core {

namespace {

constexpr std::align_val_t kAlignment{64};  // spec: x86-64 and ARMv8 cache line
constexpr std::size_t kIdleBuffers = 32;    // guess: what a burst takes and returns; 8 MiB of 256 KiB blocks

struct MemoryDeleter {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, kAlignment); }
};
using Memory = std::unique_ptr<std::byte[], MemoryDeleter>;

}  // namespace

/// The state that buffers and their pool share, alive until the last of them is gone.
struct Buffer::Shared {
  Shared(std::size_t bytes, std::size_t most) : buffer_bytes(bytes), limit(most) {}

  const std::size_t buffer_bytes;  // constant after construction
  const std::size_t limit;
  Mutex mutex;
  std::vector<Memory> idle UDTCAT_GUARDED_BY(mutex);
  std::size_t out UDTCAT_GUARDED_BY(mutex) = 0;
};

Buffer::Buffer(std::shared_ptr<Shared> home, std::byte* memory, std::size_t size_bytes)
    : home_(std::move(home)), memory_(memory), size_bytes_(size_bytes) {}

Buffer::Buffer(Buffer&& other) noexcept
    : home_(std::move(other.home_)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    give_back();
    home_ = std::move(other.home_);
    memory_ = std::exchange(other.memory_, nullptr);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
  }
  return *this;
}

Buffer::~Buffer() { give_back(); }

void Buffer::give_back() noexcept {
  if (memory_ == nullptr) return;
  Memory memory(std::exchange(memory_, nullptr));
  {
    const MutexLock lock(home_->mutex);
    --home_->out;
    // As many as are out, since those come back: fresh memory costs a fault a page.
    if (home_->idle.size() < std::max(kIdleBuffers, home_->out)) home_->idle.push_back(std::move(memory));
  }
  home_.reset();
}

BufferPool::BufferPool(std::size_t buffer_bytes, std::size_t limit)
    : shared_(std::make_shared<Buffer::Shared>(buffer_bytes, limit)) {
  UDTCAT_INVARIANT(buffer_bytes > 0 && limit > 0, "a pool is made for a known block size and queue length");
}

std::optional<Buffer> BufferPool::acquire() {
  Memory memory;
  {
    const MutexLock lock(shared_->mutex);
    if (shared_->out == shared_->limit) return std::nullopt;
    if (!shared_->idle.empty()) {
      // The last one returned is the one most likely still in a cache.
      memory = std::move(shared_->idle.back());
      shared_->idle.pop_back();
    }
    ++shared_->out;
  }
  if (!memory) memory.reset(static_cast<std::byte*>(::operator new[](shared_->buffer_bytes, kAlignment, std::nothrow)));
  if (!memory) {
    const MutexLock lock(shared_->mutex);
    --shared_->out;
    return std::nullopt;
  }
  return Buffer(shared_, memory.release(), shared_->buffer_bytes);
}

std::size_t BufferPool::in_use() const {
  const MutexLock lock(shared_->mutex);
  return shared_->out;
}

std::size_t BufferPool::buffer_bytes() const { return shared_->buffer_bytes; }

}  // namespace udtcat::core
