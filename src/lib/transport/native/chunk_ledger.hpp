/// Which chunks a buffer holds on to, and how much memory they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "lib/core/chunk.hpp"

namespace udtcat::transport::native {

/// Counts the references that one owner has to each chunk. Those of one chunk come and go together, so the last one asked for is
/// remembered.
/// Threads: unsynchronised.
class ChunkLedger {
 public:
  [[nodiscard]] bool holds(const core::ChunkRef& chunk) const {
    const std::byte* const key = chunk.bytes().data();
    return (last_ != nullptr && last_key_ == key) || counts_.contains(key);
  }
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }

  void add(const core::ChunkRef& chunk) {
    std::uint32_t& count = count_of(chunk);
    if (count++ == 0) held_bytes_ += chunk.bytes().size();
  }
  /// `chunk` was added as often as it is removed, or more.
  void remove(const core::ChunkRef& chunk) {
    if (--count_of(chunk) > 0) return;
    held_bytes_ -= chunk.bytes().size();
    counts_.erase(last_key_);
    last_ = nullptr;
  }

 private:
  std::uint32_t& count_of(const core::ChunkRef& chunk) {
    const std::byte* const key = chunk.bytes().data();
    if (last_ == nullptr || last_key_ != key) {
      last_ = &counts_[key];
      last_key_ = key;
    }
    return *last_;
  }

  std::unordered_map<const std::byte*, std::uint32_t> counts_;
  const std::byte* last_key_ = nullptr;
  std::uint32_t* last_ = nullptr;  // of last_key_; an element of a map stays where it is
  std::uint64_t held_bytes_ = 0;
};

}  // namespace udtcat::transport::native
