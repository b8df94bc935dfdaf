// SPDX-License-Identifier: Apache-2.0
/// The kinds of things that have a name in a tree.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

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

struct KindFacts {
  EntryKind kind;
  std::optional<mode_t> format;    ///< the file type bits of stat(2); none: a hard link has those of what it leads to
  const char* name;                ///< for users
  std::string_view manifest_word;  ///< spec: docs/spec/manifest.md; a letter beside it tells one device from another
};
inline constexpr std::array<KindFacts, 7> kKinds{
    {{EntryKind::file, S_IFREG, "a file", "file"},
     {EntryKind::directory, S_IFDIR, "a directory", "directory"},
     {EntryKind::symbolic_link, S_IFLNK, "a symbolic link", "link"},
     {EntryKind::hard_link, std::nullopt, "a hard link", "hard-link"},
     {EntryKind::fifo, S_IFIFO, "a FIFO", "fifo"},
     {EntryKind::character_device, S_IFCHR, "a character device", "device"},
     {EntryKind::block_device, S_IFBLK, "a block device", "device"}}};

[[nodiscard]] constexpr const KindFacts& facts_of(EntryKind kind) {
  return *std::ranges::find(kKinds, kind, &KindFacts::kind);
}
/// The facts by `st_mode` of stat(2); null: a socket.
[[nodiscard]] constexpr const KindFacts* facts_of(mode_t mode) {
  const auto* const found = std::ranges::find(kKinds, std::optional(mode & S_IFMT), &KindFacts::format);
  return found == kKinds.end() ? nullptr : found;
}

[[nodiscard]] constexpr std::optional<mode_t> format_of(EntryKind kind) { return facts_of(kind).format; }

[[nodiscard]] constexpr bool is_device(EntryKind kind) {
  return kind == EntryKind::character_device || kind == EntryKind::block_device;
}

}  // namespace udtcat::trees
