// SPDX-License-Identifier: Apache-2.0
/// Checksums as other programs know them, of bytes that come in pieces. None of them proves anything: see Sha256.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace udtcat::gridftp {

/// Threads: unsynchronised.
class Checksum {
 public:
  /// "ADLER32", "MD5", "SHA1", "SHA256" and "SHA512", in letters of either case; none: another one, or one that this
  /// system's OpenSSL does without.
  [[nodiscard]] static std::optional<Checksum> named(std::string_view name);

  void add(std::span<const std::byte> bytes);
  /// Of all that was added, once: two small digits a byte.
  [[nodiscard]] std::string text();

 private:
  using Context = std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)>;
  explicit Checksum(Context context) : context_(std::move(context)) {}

  Context context_;            // none: ADLER32
  unsigned long adler32_ = 1;  // of no byte.  spec: RFC 1950 §8.2
};

}  // namespace udtcat::gridftp
