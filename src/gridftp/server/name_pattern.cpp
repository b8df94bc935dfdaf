// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/name_pattern.hpp"

#include <cstddef>

namespace udtcat::gridftp {

bool is_pattern(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find_first_of("*?") != std::string_view::npos;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  std::size_t at = 0;
  std::size_t in_name = 0;
  auto star = std::string_view::npos;  // the last one, which may stand for more
  std::size_t behind_star = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      behind_star = in_name;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[in_name])) {
      ++at;
      ++in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++behind_star;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace udtcat::gridftp
