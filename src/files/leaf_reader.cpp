// SPDX-License-Identifier: Apache-2.0
#include "files/leaf_reader.hpp"

#include "files/whole_io.hpp"
#include "lib/core/try.hpp"

namespace udtcat::files {

Digest hash_of(const Leaf& leaf) { return leaf.is_hole() ? hash_of_zeros() : hash_of_leaf(leaf.content); }

Result<std::optional<Leaf>> LeafReader::next() {
  const std::uint64_t begin = next_ * kLeafBytes;
  if (begin >= bytes_) return std::nullopt;
  Leaf leaf{.number = next_, .bytes = next_end() - begin, .content = {}};
  if (leaf.bytes < kLeafBytes || !map_.is_hole(begin, leaf.bytes)) {
    memory_.resize(leaf.bytes);
    UDTCAT_CHECK(read_leaf(file_, begin, memory_, shown_));
    leaf.content = memory_;
  }
  ++next_;
  return leaf;
}

}  // namespace udtcat::files
