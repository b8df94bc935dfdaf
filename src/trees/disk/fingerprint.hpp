// SPDX-License-Identifier: Apache-2.0
/// File fingerprints: whether a file is unchanged, by what its file system says of it.
#pragma once

#include <chrono>
#include <optional>

#include "files/file_location.hpp"
#include "files/sha256.hpp"

struct stat;

namespace udtcat::trees {

/// Identifies a file in one state: 16 bytes that differ once its content or its status has changed, its file system was
/// mounted anew, or the machine began again: a disk that lost its power, and an image that was restored, may have old
/// times over other bytes.  spec: docs/spec/trees.md §3
using Fingerprint = files::ShortDigest;

// guess: two ticks of a slow kernel's clock, by which a file system tells the time
inline constexpr std::chrono::milliseconds kLately{20};

/// How long to wait until no change can leave a file's times as they are; zero where that is so, or where they lie in
/// the future: then none will come to equal them soon.
[[nodiscard]] std::chrono::nanoseconds time_until_stable(const struct stat& status);

/// Whether no change can have the time of a file's last one any more: at once where the kernel's times of files are
/// finer than the time between two looks (Linux 6.13).
[[nodiscard]] bool is_past_step(const struct stat& status);

/// Whether each change of a file's content changes its times, a store through a mapping that is made from now on, too.
/// location   of the file, in an opened directory
[[nodiscard]] bool tells_of_changes(const files::FileLocation& location, const struct stat& status);
/// Likewise, of files in a directory.  directory   opened, also by O_PATH
[[nodiscard]] bool tells_of_changes(const bridge::Descriptor& directory);

/// None where it changed so lately that another change could leave its times as they are, on a file system that is not
/// known to tell of each change, and where the boot has no name. It speaks of stores through mappings that are made
/// later: see writers.hpp.
/// location   of the file, in an opened directory
[[nodiscard]] std::optional<Fingerprint> fingerprint_of(const files::FileLocation& location, const struct stat& status);

using files::is_same_file;  // the same file, whatever is in it
/// The same file, and its content has not changed, as far as size and time of change tell.
[[nodiscard]] bool is_same_content(const struct stat& one, const struct stat& other);
/// The same, and nothing else of it has changed.
[[nodiscard]] bool is_same_state(const struct stat& one, const struct stat& other);

}  // namespace udtcat::trees
