// SPDX-License-Identifier: Apache-2.0
/// The hash of a file as a tree over its leaves, by RFC 9162 and SHA-256.  spec: docs/spec/trees.md §2
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct evp_md_ctx_st;

namespace udtcat::files {

using Digest = std::array<std::byte, 32>;

inline constexpr std::size_t kLeafBytes = 1'048'576;  // spec: docs/spec/trees.md §2

/// How many leaves a file of so many bytes has.
[[nodiscard]] constexpr std::uint64_t leaves_of(std::uint64_t bytes) {
  return bytes / kLeafBytes + (bytes % kLeafBytes == 0 ? 0 : 1);
}

[[nodiscard]] Digest hash_of_leaf(std::span<const std::byte> leaf);
/// Of a whole leaf with nothing but zeros.
[[nodiscard]] const Digest& hash_of_zeros();

/// Takes the digests of leaves in order. Its memory grows with the logarithm of their number.
/// Threads: unsynchronised.
class TreeHash {
 public:
  void add(const Digest& leaf) { add(leaf, 1); }
  /// The same leaf `count` times, at the cost of a logarithm.
  void add(const Digest& leaf, std::uint64_t count);
  [[nodiscard]] std::uint64_t leaves() const { return leaves_; }
  /// Of the leaves so far.
  [[nodiscard]] Digest root() const;

 private:
  std::uint64_t leaves_ = 0;
  std::vector<Digest> complete_;  // one perfect subtree for each bit of leaves_, the largest first
};

/// SHA-256 of bytes that come in pieces.
/// Threads: unsynchronised.
class Sha256 {
 public:
  Sha256();

  void add(std::span<const std::byte> bytes);
  /// Of all that was added, once; nothing is added after it.
  [[nodiscard]] Digest digest();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// SHA-256 of nothing but these bytes.
[[nodiscard]] Digest digest_of(std::span<const std::byte> bytes);

/// 64 digits.
[[nodiscard]] std::string to_hex(const Digest& digest);

}  // namespace udtcat::files
