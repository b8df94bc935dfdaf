// SPDX-License-Identifier: Apache-2.0
/// The hashes of a file's leaves, in order; those that are equal and follow each other cost one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "files/sha256.hpp"

namespace udtcat::trees {

/// Threads: unsynchronised.
class LeafRuns {
 public:
  void add(const files::Digest& leaf, std::uint64_t count = 1) {
    if (runs_.empty() || runs_.back().digest != leaf) runs_.push_back({leaf, leaves_});
    leaves_ += count;
  }
  [[nodiscard]] std::uint64_t leaves() const { return leaves_; }
  /// Of equal leaves: what takes memory.
  [[nodiscard]] std::size_t runs() const { return runs_.size(); }
  /// Equal leaves, from one on.
  struct Equal {
    files::Digest digest;
    std::uint64_t leaves;
  };
  /// number   of a leaf that there is
  [[nodiscard]] Equal run_at(std::uint64_t number) const {
    const auto next = std::ranges::upper_bound(runs_, number, {}, &Run::first);
    return {std::prev(next)->digest, (next == runs_.end() ? leaves_ : next->first) - number};
  }

 private:
  struct Run {
    files::Digest digest;
    std::uint64_t first;  // of its leaves
  };
  std::vector<Run> runs_;
  std::uint64_t leaves_ = 0;
};

}  // namespace udtcat::trees
