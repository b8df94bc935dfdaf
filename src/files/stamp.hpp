// SPDX-License-Identifier: Apache-2.0
/// Whether a file is the one that it was, by what its file system says of it.
#pragma once

#include <chrono>
#include <optional>

#include "files/file_location.hpp"
#include "files/sha256.hpp"

struct stat;

namespace udtcat::files {

/// A file, unchanged: 16 bytes that are others once its content or its state has changed.
/// spec: docs/spec/trees.md §3
using Stamp = ShortDigest;

// guess: two ticks of a slow kernel's clock, by which a file system tells the time
inline constexpr std::chrono::milliseconds kLately{20};

/// None where it changed so lately that another change could leave its times as they are, and on a file system that is
/// not known to tell of each change (a picture that is mounted, another host's disk).
/// location   of the file, in an opened directory
[[nodiscard]] std::optional<Stamp> stamp_of(const FileLocation& location, const struct stat& status);

/// Whether both are of one file, be it changed in between or not.
[[nodiscard]] bool is_same_file(const struct stat& one, const struct stat& other);
/// Likewise, and it has not changed.
[[nodiscard]] bool is_same_state(const struct stat& one, const struct stat& other);

}  // namespace udtcat::files
