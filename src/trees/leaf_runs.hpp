// SPDX-License-Identifier: Apache-2.0
/// The hashes of a file's leaves, in order; those that are equal and follow each other cost one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "files/tree_hash.hpp"

namespace udtcat::trees {

/// Threads: unsynchronised.
class LeafRuns {
 public:
  void add(const files::Digest& leaf) {
    if (runs_.empty() || runs_.back().digest != leaf) runs_.push_back({leaf, leaves_});
    ++leaves_;
  }
  [[nodiscard]] std::uint64_t leaves() const { return leaves_; }
  /// None: there is no such leaf. Quick where the calls' numbers rise.
  [[nodiscard]] std::optional<files::Digest> at(std::uint64_t number) {
    if (number >= leaves_) return std::nullopt;
    if (runs_[at_].first > number) at_ = 0;
    while (at_ + 1 < runs_.size() && runs_[at_ + 1].first <= number) ++at_;
    return runs_[at_].digest;
  }

 private:
  struct Run {
    files::Digest digest;
    std::uint64_t first;  // of its leaves
  };
  std::vector<Run> runs_;
  std::uint64_t leaves_ = 0;
  std::size_t at_ = 0;  // the run that at() gave last
};

}  // namespace udtcat::trees
