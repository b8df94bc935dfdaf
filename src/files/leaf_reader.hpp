// SPDX-License-Identifier: Apache-2.0
/// Reads a file leaf by leaf; holes are passed over without being read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "files/sparse.hpp"
#include "files/tree_hash.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::files {

struct Leaf {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;             ///< kLeafBytes, but in the last one
  std::span<const std::byte> content;  ///< empty: a hole, which fills a whole leaf

  [[nodiscard]] bool is_hole() const { return content.empty(); }
};

[[nodiscard]] Digest hash_of(const Leaf& leaf);

/// Waits for the disk.
/// Threads: unsynchronised.
class LeafReader {
 public:
  /// bytes    of the file
  /// memory   of a leaf; the content of the one that was read last
  /// shown    for messages
  /// All three outlive this.
  LeafReader(const bridge::Descriptor& file, std::uint64_t bytes, std::vector<std::byte>& memory,
             const std::string& shown)
      : file_(file), bytes_(bytes), memory_(memory), shown_(shown), map_(file, bytes) {}

  /// Where the next one ends; the end of the file when there is none.
  [[nodiscard]] std::uint64_t next_end() const { return std::min(bytes_, (next_ + 1) * kLeafBytes); }
  /// None: that was the last.  errors: Errc::local_read_failed, also where the file ends within it
  [[nodiscard]] Result<std::optional<Leaf>> next();

 private:
  const bridge::Descriptor& file_;
  const std::uint64_t bytes_;
  std::vector<std::byte>& memory_;
  const std::string& shown_;
  SparseMap map_;
  std::uint64_t next_ = 0;
};

}  // namespace udtcat::files
