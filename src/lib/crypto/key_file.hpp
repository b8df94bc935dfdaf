// SPDX-License-Identifier: Apache-2.0
/// Files that hold a secret: which of them are read, and how.
#pragma once

#include <string>

#include <udtcat/key.hpp>
#include <udtcat/result.hpp>

#include "lib/core/secret_text.hpp"

namespace udtcat::crypto {

/// The text of a key file; of a pipe no more than its first line. Blocks while it reads.
/// errors: Errc::bad_argument for a file that cannot be read, or that others can read
[[nodiscard]] Result<core::SecretText> read_key_file(const std::string& path, Key::FromFile kind);
/// The error of a file whose text is no key: `why` about the text, and the file.
[[nodiscard]] tl::unexpected<Error> not_in_key_file(const std::string& path, const Error& why);

/// The secret that `parse` finds in the file's text.
template <typename Parse>
[[nodiscard]] auto secret_from_file(const std::string& path, Key::FromFile kind, Parse parse)
    -> decltype(parse(std::string_view())) {
  const auto text = read_key_file(path, kind);
  if (!text) return tl::unexpected(text.error());
  auto secret = parse(text->view());
  if (!secret) return not_in_key_file(path, secret.error());
  return secret;
}

}  // namespace udtcat::crypto
