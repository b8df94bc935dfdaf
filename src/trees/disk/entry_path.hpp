// SPDX-License-Identifier: Apache-2.0
/// Names that can stand in a tree that is sent.  spec: docs/spec/trees.md §3
#pragma once

#include <cstddef>
#include <string_view>

namespace udtcat::trees {

inline constexpr std::size_t kMaxEntryPathBytes = 4'096;   // spec: docs/spec/trees.md §3
inline constexpr std::size_t kMaxEntryWordBytes = 255;     // spec: docs/spec/trees.md §3, and Linux NAME_MAX
inline constexpr std::size_t kMaxLinkTargetBytes = 4'095;  // spec: docs/spec/trees.md §3, and Linux PATH_MAX

/// Whether `path` can be that of an entry: it leads nowhere but below the directory that it is opened in, or is ".".
[[nodiscard]] bool is_entry_path(std::string_view path);
/// Whether a directory of that name is where a receiver keeps what is not whole: ".udtcat-parts", and the same with
/// "-UID" or "-UID-N" behind it. No word of an entry's path is.
[[nodiscard]] bool is_parts_name(std::string_view word);
/// Whether a word of the path is such a name.
[[nodiscard]] bool has_parts_name(std::string_view path);
/// Whether `target` can be a symbolic link's; it may lead anywhere.
[[nodiscard]] bool is_link_target(std::string_view target);

}  // namespace udtcat::trees
