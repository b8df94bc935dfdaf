// SPDX-License-Identifier: Apache-2.0
/// HKDF-SHA256 (RFC 5869) as the key schedule uses it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <udtcat/result.hpp>

#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::crypto {

/// HKDF-Extract with an empty salt.  errors: Errc::cipher_failed
[[nodiscard]] Result<Secret32> hkdf_extract(std::span<const std::byte> input);

/// HKDF-Expand.  info: `label` followed by `context`;  out: at most 255 * 32 bytes.  errors: Errc::cipher_failed
[[nodiscard]] Status hkdf_expand(const Secret32& secret, std::string_view label, std::span<const std::byte> context,
                                 std::span<std::byte> out);

}  // namespace udtcat::crypto
