// SPDX-License-Identifier: Apache-2.0
/// How much is in a directory, by looking at all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/file_tree.hpp"

namespace udtcat::files {

inline constexpr std::uint64_t kNameBytes = 4'096;        // guess: a name, and the inode behind it
inline constexpr std::size_t kMaxCountedDepth = 256;      // guess: deeper than people nest; a descriptor for each
inline constexpr std::size_t kMaxCountedLinked = 65'536;  // guess: 5 MB; further ones count by each name

/// The bytes of one name: a file's size counts with its last one.  status   of it
[[nodiscard]] std::uint64_t bytes_of(const struct stat& status);
/// The sum, or the most that can be said.
[[nodiscard]] std::uint64_t sum_of(std::uint64_t one, std::uint64_t other);

/// The sizes of the files in a directory and below, and kNameBytes for each name.
struct DirectoryCount {
  std::uint64_t bytes = 0;
  std::uint64_t part_bytes = 0;              ///< of these, in files that have not come whole
  std::optional<std::time_t> oldest_part{};  ///< when it was written last
};

/// Waits for the disk, with one descriptor for each level, and in bounded memory. A file with several names counts
/// once, as far as kMaxCountedLinked of them go. Symbolic links are names, and are not followed. What comes or is moved
/// meanwhile may be seen or not.
/// is_wanted   asked in between
/// errors: Errc::local_read_failed, with the directory that cannot be read, or is too deep; Errc::interrupted
[[nodiscard]] Result<DirectoryCount> count_directory(const FileTree& tree, const std::function<bool()>& is_wanted);

}  // namespace udtcat::files
