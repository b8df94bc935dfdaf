// SPDX-License-Identifier: Apache-2.0
/// The holes of a file.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::trees {

/// Asks in the order of the offsets, once for each piece of data. A file system that knows no holes has none. Where its
/// blocks (stat(2)) are more than the data that lseek(2) finds, the list of its extents has to say so, too, as it
/// does of blocks that were never written; else all is taken for data. Threads: unsynchronised.
class SparseMap {
 public:
  /// `file` outlives this.
  SparseMap(const bridge::Descriptor& file, std::uint64_t bytes) : file_(file), end_(bytes) {}

  /// Whether nothing but a hole is there: zeros, without being read.  offset   not below the last call's
  [[nodiscard]] bool is_hole(std::uint64_t offset, std::uint64_t bytes);

 private:
  const bridge::Descriptor& file_;
  const std::uint64_t end_;
  // Of the piece of data that was found last, or the end of the file. Before it, from the last offset on, is a hole.
  std::uint64_t data_begin_ = 0;
  std::uint64_t data_end_ = 0;
  std::optional<bool> is_believed_;  // none: not asked yet
};

}  // namespace udtcat::trees
