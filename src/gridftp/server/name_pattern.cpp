// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/name_pattern.hpp"

#include "lib/core/pattern.hpp"

namespace udtcat::gridftp {

bool is_pattern(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find_first_of("*?") != std::string_view::npos;
}

bool matches(std::string_view pattern, std::string_view name) {
  return (!name.starts_with('.') || pattern.starts_with('.')) && core::matches(pattern, name);
}

}  // namespace udtcat::gridftp
