// SPDX-License-Identifier: Apache-2.0
/// Patterns of '*' and '?', as users write them for hosts and files.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace udtcat::core {

/// Whether `pattern` is the whole of `text`: '*' is any text, '?' any byte, and of two others same(a, b) tells. It
/// takes a step for each pair of their bytes at most. Total.
template <typename Same = std::equal_to<>>
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text, Same same = {}) {
  // `star` and `taken`: the last *, and how much of the text it has taken: the only place to go back to.
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || same(pattern[p], text[t]))) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace udtcat::core
