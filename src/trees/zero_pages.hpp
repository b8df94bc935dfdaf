// SPDX-License-Identifier: Apache-2.0
/// The parts of a chunk that are not zero.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "trees/message.hpp"

namespace udtcat::trees {

inline constexpr std::size_t kPageBytes = 4'096;  // spec: a page, below which no file system leaves a hole

[[nodiscard]] inline bool is_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// Without the pages that are zero; none: all of them are.
[[nodiscard]] inline std::vector<Extent> extents_of(std::span<const std::byte> chunk) {
  std::vector<Extent> extents;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= chunk.size(); at += kPageBytes) {
    const bool is_end = at >= chunk.size();
    if (!is_end && !is_zero(chunk.subspan(at, std::min(kPageBytes, chunk.size() - at)))) continue;
    const std::size_t end = std::min(at, chunk.size());
    if (end > begin) extents.push_back({static_cast<std::uint32_t>(begin), chunk.subspan(begin, end - begin)});
    begin = at + kPageBytes;
  }
  if (begin < chunk.size()) extents.push_back({static_cast<std::uint32_t>(begin), chunk.subspan(begin)});
  return extents;
}

}  // namespace udtcat::trees
