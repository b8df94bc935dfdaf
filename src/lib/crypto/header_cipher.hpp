// SPDX-License-Identifier: Apache-2.0
/// Enciphers the 16-byte record header as one AES-256 block.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <udtcat/result.hpp>

#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::crypto {

inline constexpr std::size_t kHeaderBlockBytes = 16;  // spec: FIPS 197, one AES block

/// A pseudo-random permutation of one block. The header has 13 bytes the receiver already knows, so a changed bit
/// shows at once, before a length is believed (docs/spec/record.md §3). Headers never repeat: each has its number.
/// Threads: unsynchronised.
class HeaderCipher {
 public:
  /// errors: Errc::cipher_failed
  [[nodiscard]] static Result<HeaderCipher> create(const Secret32& key);
  HeaderCipher(HeaderCipher&&) noexcept;
  HeaderCipher& operator=(HeaderCipher&&) noexcept;
  ~HeaderCipher();

  /// In place.  errors: Errc::cipher_failed
  [[nodiscard]] Status encipher(std::span<std::byte, kHeaderBlockBytes> block);
  [[nodiscard]] Status decipher(std::span<std::byte, kHeaderBlockBytes> block);

 private:
  struct Contexts;
  explicit HeaderCipher(std::unique_ptr<Contexts> contexts);
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace udtcat::crypto
