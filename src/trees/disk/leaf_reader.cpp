// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/leaf_reader.hpp"

#include "files/whole_io.hpp"
#include "lib/core/try.hpp"

namespace udtcat::trees {

files::Digest hash_of(const Leaf& leaf) { return leaf.is_hole() ? hash_of_zeros() : hash_of_leaf(leaf.content); }

Result<std::optional<Leaf>> LeafReader::next() {
  if (next_ >= leaves_of(bytes_)) {
    UDTCAT_CHECK(check_end());
    return std::nullopt;
  }
  const files::ByteRange range = range_of_leaves(bytes_, next_);
  Leaf leaf{.number = next_, .bytes = range.bytes(), .content = {}};
  if (leaf.bytes < kLeafBytes || !map_.is_hole(range.begin, leaf.bytes)) {
    memory_.resize(leaf.bytes);
    UDTCAT_CHECK(files::read_leaf(file_, range.begin, memory_, shown_));
    leaf.content = memory_;
  }
  ++next_;
  return leaf;
}

/// Files of /proc have content and the size 0, and a file system of user space may tell of an old size.
Status LeafReader::check_end() const {
  std::byte behind{};
  UDTCAT_TRY(const std::size_t got, files::read_whole_at(file_, bytes_, {&behind, 1}, shown_));
  if (got == 0) return {};
  return fail(Errc::local_read_failed, "read " + shown_, "it has more in it than its size tells");
}

}  // namespace udtcat::trees
