// SPDX-License-Identifier: Apache-2.0
/// The kinds of things that have a name in a tree.
#pragma once

#include <cstdint>
#include <optional>

#include <sys/stat.h>

namespace udtcat::trees {

/// spec: docs/spec/trees.md §3
enum class EntryKind : std::uint8_t {
  file = 1,
  directory = 2,
  symbolic_link = 3,
  hard_link = 4,
  fifo = 5,
  character_device = 6,
  block_device = 7,
};

/// The file type bits of stat(2); none: a hard link's are those of what it leads to.
[[nodiscard]] constexpr std::optional<mode_t> format_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::file:
      return S_IFREG;
    case EntryKind::directory:
      return S_IFDIR;
    case EntryKind::symbolic_link:
      return S_IFLNK;
    case EntryKind::fifo:
      return S_IFIFO;
    case EntryKind::character_device:
      return S_IFCHR;
    case EntryKind::block_device:
      return S_IFBLK;
    case EntryKind::hard_link:
      break;
  }
  return std::nullopt;
}

}  // namespace udtcat::trees
