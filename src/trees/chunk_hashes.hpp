// SPDX-License-Identifier: Apache-2.0
/// The hashes of a file's chunks, in order; those that are equal and follow each other cost one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "files/sha256.hpp"

namespace udtcat::trees {

/// Threads: unsynchronised.
class ChunkHashes {
 public:
  void add(const files::Digest& chunk, std::uint64_t count = 1) {
    if (runs_.empty() || runs_.back().digest != chunk) runs_.push_back({chunk, chunks_});
    chunks_ += count;
  }
  [[nodiscard]] std::uint64_t chunks() const { return chunks_; }
  /// Runs of equal chunks, each of which takes memory.
  [[nodiscard]] std::size_t runs() const { return runs_.size(); }
  /// A run of equal chunks, from one of them on.
  struct Equal {
    files::Digest digest;
    std::uint64_t chunks;
  };
  /// number   of a chunk, below chunks()
  [[nodiscard]] Equal run_at(std::uint64_t number) const {
    const auto next = std::ranges::upper_bound(runs_, number, {}, &Run::first);
    return {std::prev(next)->digest, (next == runs_.end() ? chunks_ : next->first) - number};
  }

 private:
  struct Run {
    files::Digest digest;
    std::uint64_t first;  // of its chunks
  };
  std::vector<Run> runs_;
  std::uint64_t chunks_ = 0;
};

}  // namespace udtcat::trees
