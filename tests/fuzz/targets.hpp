// SPDX-License-Identifier: Apache-2.0
/// The fuzz targets that one program replays. CMake writes their list: each source with a function of its own name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace udtcat::test::fuzz {

struct Target {
  std::string_view name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

/// In the order of their names.
[[nodiscard]] std::span<const Target> targets();

}  // namespace udtcat::test::fuzz
