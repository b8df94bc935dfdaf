// SPDX-License-Identifier: Apache-2.0
/// Text forms of bytes, so that a test can look for a key in each.
#pragma once

#include <string>
#include <string_view>

namespace udtcat::test::e2e {

/// RFC 4648 §5, without padding. Characters outside the alphabet are skipped.
[[nodiscard]] std::string decode_base64url(std::string_view text);
[[nodiscard]] std::string to_hexadecimal(std::string_view bytes);

}  // namespace udtcat::test::e2e
