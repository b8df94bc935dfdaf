// SPDX-License-Identifier: Apache-2.0
/// Words as a shell reads and writes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace udtcat::tool {

/// `word` as one word of a POSIX shell.
[[nodiscard]] std::string quoted(const std::string& word);

enum class Comments { none, allowed };  ///< a word that begins with an unquoted # begins one

/// The words of a text as rsync and sh split it: spaces, '…', "…", backslash. None where a quote does not end.
[[nodiscard]] std::optional<std::vector<std::string>> split_words(const std::string& text,
                                                                  Comments comments = Comments::none);

}  // namespace udtcat::tool
