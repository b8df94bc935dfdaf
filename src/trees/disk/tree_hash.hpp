// SPDX-License-Identifier: Apache-2.0
/// The hash of a file as a tree whose leaves are its chunks, by RFC 9162 and SHA-256.  spec: docs/spec/trees.md §2
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "files/byte_ranges.hpp"
#include "files/sha256.hpp"

namespace udtcat::trees {

inline constexpr std::size_t kChunkBytes = 1'048'576;  // spec: docs/spec/trees.md §2

/// How many chunks a file of so many bytes has.
[[nodiscard]] constexpr std::uint64_t chunks_of(std::uint64_t bytes) {
  return bytes / kChunkBytes + (bytes % kChunkBytes == 0 ? 0 : 1);
}

/// Where `count` chunks are, from one on, in a file of so many bytes that has them.
[[nodiscard]] constexpr files::ByteRange range_of_chunks(std::uint64_t file_bytes, std::uint64_t chunk,
                                                         std::uint64_t count = 1) {
  const std::uint64_t end = chunk + count;
  return {chunk * kChunkBytes, end > file_bytes / kChunkBytes ? file_bytes : end * kChunkBytes};
}

[[nodiscard]] files::Digest hash_of_leaf(std::span<const std::byte> chunk);
/// The hash of a whole chunk of zeros.
[[nodiscard]] const files::Digest& hash_of_zeros();

/// Takes the digests of leaves in order. Its memory grows with the logarithm of their number.
/// Threads: unsynchronised.
class TreeHash {
 public:
  void add(const files::Digest& leaf) { add(leaf, 1); }
  /// The same leaf `count` times, at the cost of a logarithm.
  void add(const files::Digest& leaf, std::uint64_t count);
  /// The hash of the leaves so far.
  [[nodiscard]] files::Digest root() const;

 private:
  std::uint64_t leaves_ = 0;
  std::vector<files::Digest> complete_;  // one perfect subtree for each bit of leaves_, the largest first
};

}  // namespace udtcat::trees
