// SPDX-License-Identifier: Apache-2.0
/// Ed25519 signatures (RFC 8032 §5.1).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <udtcat/key_pair.hpp>
#include <udtcat/result.hpp>

namespace udtcat::crypto {

inline constexpr std::size_t kSignatureBytes = 64;  // spec: RFC 8032 §5.1.6
using Signature = std::array<std::byte, kSignatureBytes>;

/// errors: Errc::cipher_failed
[[nodiscard]] Result<Signature> sign(const KeyPair& signer, std::span<const std::byte> message);
/// Whether `signer` has signed `message`.
[[nodiscard]] bool is_signed_by(const PublicKey& signer, std::span<const std::byte> message,
                                std::span<const std::byte, kSignatureBytes> signature);

}  // namespace udtcat::crypto
