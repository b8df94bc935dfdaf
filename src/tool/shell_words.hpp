// SPDX-License-Identifier: Apache-2.0
/// Words as a shell reads and writes them.
#pragma once

#include <string>
#include <vector>

namespace udtcat::tool {

/// `word` as one word of a POSIX shell.
[[nodiscard]] std::string quoted(const std::string& word);

/// The words of a text as rsync and sh split it: spaces, '…', "…", backslash. A quote that does not end ends with the
/// text.
[[nodiscard]] std::vector<std::string> split_words(const std::string& text);

}  // namespace udtcat::tool
