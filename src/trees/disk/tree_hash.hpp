// SPDX-License-Identifier: Apache-2.0
/// The hash of a file as a tree over its leaves, by RFC 9162 and SHA-256.  spec: docs/spec/trees.md §2
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "files/byte_ranges.hpp"
#include "files/sha256.hpp"

namespace udtcat::trees {

inline constexpr std::size_t kLeafBytes = 1'048'576;  // spec: docs/spec/trees.md §2

/// How many leaves a file of so many bytes has.
[[nodiscard]] constexpr std::uint64_t leaves_of(std::uint64_t bytes) {
  return bytes / kLeafBytes + (bytes % kLeafBytes == 0 ? 0 : 1);
}

/// Where `count` leaves are, from one on, in a file of so many bytes that has them.
[[nodiscard]] constexpr files::ByteRange range_of_leaves(std::uint64_t file_bytes, std::uint64_t leaf,
                                                         std::uint64_t count = 1) {
  const std::uint64_t end = leaf + count;
  return {leaf * kLeafBytes, end > file_bytes / kLeafBytes ? file_bytes : end * kLeafBytes};
}

[[nodiscard]] files::Digest hash_of_leaf(std::span<const std::byte> leaf);
/// Of a whole leaf with nothing but zeros.
[[nodiscard]] const files::Digest& hash_of_zeros();

/// Takes the digests of leaves in order. Its memory grows with the logarithm of their number.
/// Threads: unsynchronised.
class TreeHash {
 public:
  void add(const files::Digest& leaf) { add(leaf, 1); }
  /// The same leaf `count` times, at the cost of a logarithm.
  void add(const files::Digest& leaf, std::uint64_t count);
  [[nodiscard]] std::uint64_t leaves() const { return leaves_; }
  /// Of the leaves so far.
  [[nodiscard]] files::Digest root() const;

 private:
  std::uint64_t leaves_ = 0;
  std::vector<files::Digest> complete_;  // one perfect subtree for each bit of leaves_, the largest first
};

}  // namespace udtcat::trees
