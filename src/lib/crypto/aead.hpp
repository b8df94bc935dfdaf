// SPDX-License-Identifier: Apache-2.0
/// An EVP AEAD context that seals and opens in place.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::crypto {

inline constexpr std::size_t kNonceBytes = 12;  // spec: RFC 5116 §5.1, RFC 8439 §2.8
inline constexpr std::size_t kTagBytes = 16;    // spec: RFC 5116 §5.1, RFC 8439 §2.8

enum class AeadDirection { seal, open };

/// One keyed context. The key is set once and again only by rekey(); each call brings its own nonce.
/// Threads: unsynchronised: one Aead per lane.
class Aead {
 public:
  /// `key` must have key_bytes(cipher) bytes.  errors: Errc::cipher_failed
  [[nodiscard]] static Result<Aead> create(Cipher cipher, AeadDirection direction, std::span<const std::byte> key);
  [[nodiscard]] static std::size_t key_bytes(Cipher cipher);

  Aead(Aead&&) noexcept;
  Aead& operator=(Aead&&) noexcept;
  ~Aead();

  /// Replaces the key without a new context.  errors: Errc::cipher_failed
  [[nodiscard]] Status rekey(std::span<const std::byte> key);

  /// Encrypts `payload` in place and writes the tag over `payload` and `aad` to `tag`.
  /// nonce    never twice under one key: the caller's invariant
  /// errors   Errc::cipher_failed
  [[nodiscard]] Status seal(std::span<const std::byte, kNonceBytes> nonce, std::span<const std::byte> aad,
                            std::span<std::byte> payload, std::span<std::byte, kTagBytes> tag);
  /// Checks the tag and decrypts in place. On failure `payload` holds nothing that may be used.
  /// errors   Errc::tampered if the tag does not match; Errc::cipher_failed
  [[nodiscard]] Status open(std::span<const std::byte, kNonceBytes> nonce, std::span<const std::byte> aad,
                            std::span<std::byte> payload, std::span<const std::byte, kTagBytes> tag);

 private:
  struct Context;
  explicit Aead(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;
};

/// The faster 256-bit cipher of this machine, measured once per process (under a millisecond).
[[nodiscard]] Cipher fastest_256_bit_cipher();

}  // namespace udtcat::crypto
