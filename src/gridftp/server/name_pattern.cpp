// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/name_pattern.hpp"

#include <cstddef>

namespace udtcat::gridftp {

namespace {

/// It takes a step for each pair of bytes at most.
bool matches_all(std::string_view pattern, std::string_view text) {
  // `star` and `taken`: the last *, and how much of the text it has taken: the only place to go back to.
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
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

}  // namespace

bool is_pattern(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find_first_of("*?") != std::string_view::npos;
}

bool matches(std::string_view pattern, std::string_view name) {
  return (!name.starts_with('.') || pattern.starts_with('.')) && matches_all(pattern, name);
}

}  // namespace udtcat::gridftp
