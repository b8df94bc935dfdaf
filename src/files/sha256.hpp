// SPDX-License-Identifier: Apache-2.0
/// SHA-256, by which content and names are told from others.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace udtcat::files {

using Digest = std::array<std::byte, 32>;
/// The first half of a digest.
using ShortDigest = std::array<std::byte, 16>;

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

using Pieces = std::initializer_list<std::span<const std::byte>>;

[[nodiscard]] Digest digest_of(Pieces pieces);
[[nodiscard]] ShortDigest short_digest_of(Pieces pieces);

/// Two digits a byte.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

}  // namespace udtcat::files
