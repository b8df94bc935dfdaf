// SPDX-License-Identifier: Apache-2.0
/// Secrets of 32 bytes as text: a prefix, base64url, and a check that tells a typing error from a wrong key.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::crypto {

/// docs/spec/handshake.md §1. The caller keeps the text secret.
[[nodiscard]] std::string secret_to_text(std::string_view prefix, std::span<const std::byte, 32> secret);
/// Surrounding white space is ignored.  errors: Errc::bad_argument, never quoting the text
[[nodiscard]] Result<Secret32> secret_from_text(std::string_view prefix, std::string_view text);

}  // namespace udtcat::crypto
