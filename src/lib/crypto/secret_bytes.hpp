// SPDX-License-Identifier: Apache-2.0
/// Bytes that must not outlive their use, and random ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <udtcat/result.hpp>

#include "lib/core/secret_text.hpp"

namespace udtcat::crypto {

using core::erase;

/// Whether the two are the same, in a time that does not depend on where they differ.
[[nodiscard]] bool same(std::span<const std::byte> one, std::span<const std::byte> other) noexcept;

/// Fills `bytes` with random ones that are unpredictable but no secret.  errors: Errc::cipher_failed
[[nodiscard]] Status randomise(std::span<std::byte> bytes);
/// An unpredictable number.  errors: Errc::cipher_failed
[[nodiscard]] Result<std::uint64_t> random_u64();

/// A fixed number of secret bytes: no copy, no print, erased on destruction and when moved from.
/// Threads: unsynchronised.
template <std::size_t Size>
class SecretBytes {
 public:
  SecretBytes() = default;
  SecretBytes(SecretBytes&& other) noexcept : bytes_(other.bytes_) { erase(other.bytes_); }
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    if (this != &other) {
      bytes_ = other.bytes_;
      erase(other.bytes_);
    }
    return *this;
  }
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  ~SecretBytes() { erase(bytes_); }

  [[nodiscard]] SecretBytes duplicate() const {
    SecretBytes copy;
    copy.bytes_ = bytes_;
    return copy;
  }
  [[nodiscard]] std::span<std::byte, Size> writable() { return bytes_; }
  [[nodiscard]] std::span<const std::byte, Size> bytes() const { return bytes_; }

 private:
  std::array<std::byte, Size> bytes_{};
};

/// A key of HKDF-SHA256.
using Secret32 = SecretBytes<32>;

}  // namespace udtcat::crypto
