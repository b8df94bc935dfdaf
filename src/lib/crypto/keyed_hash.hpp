// SPDX-License-Identifier: Apache-2.0
/// SipHash-2-4, for values that only this host has to recognise again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <udtcat/result.hpp>

namespace udtcat::crypto {

/// The key is erased with this object.
/// Threads: unsynchronised.
class KeyedHash {
 public:
  static constexpr std::size_t kKeyBytes = 16;      // spec: SipHash
  static constexpr std::size_t kHash128Bytes = 16;  // spec: SipHash-2-4-128
  using Hash128 = std::array<std::byte, kHash128Bytes>;

  /// Under a random key of its own.  errors   Errc::cipher_failed
  [[nodiscard]] static Result<KeyedHash> create();
  /// Under a key that a peer knows, too.  errors   Errc::cipher_failed
  [[nodiscard]] static Result<KeyedHash> create(std::span<const std::byte, kKeyBytes> key);
  KeyedHash(KeyedHash&&) noexcept;
  KeyedHash& operator=(KeyedHash&&) noexcept;
  ~KeyedHash();

  /// errors   Errc::cipher_failed
  [[nodiscard]] Result<std::uint64_t> of(std::span<const std::byte> message);
  /// SipHash-2-4-128, which is not an extension of the 64-bit hash.  errors   Errc::cipher_failed
  [[nodiscard]] Result<Hash128> hash128_of(std::span<const std::byte> message);

 private:
  struct Context;
  explicit KeyedHash(std::unique_ptr<Context> context);
  [[nodiscard]] static Result<KeyedHash> without_key();
  [[nodiscard]] Status compute(std::span<const std::byte> message, std::span<std::byte> hash);
  std::unique_ptr<Context> context_;
};

}  // namespace udtcat::crypto
