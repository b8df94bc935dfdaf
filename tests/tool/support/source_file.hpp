// SPDX-License-Identifier: Apache-2.0
/// Files of the source tree: what is documented is compared with what is built.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace udtcat::tool {

[[nodiscard]] inline std::string source_file(const std::string& path) {
  std::ifstream file(std::string(UDTCAT_SOURCE_DIR "/") + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace udtcat::tool
