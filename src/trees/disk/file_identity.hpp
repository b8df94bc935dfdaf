// SPDX-License-Identifier: Apache-2.0
/// Which file a name leads to, by more than its inode, whose number may be given to another file.
#pragma once

#include <cstdint>
#include <optional>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"

namespace udtcat::trees {

/// The file that a name had at one moment.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t changed = 0;            ///< the content, in nanoseconds
  std::optional<std::int64_t> born{};  ///< likewise; none where the file system keeps no such time, or it cannot be had
  std::int64_t state_changed = 0;      ///< likewise
  bool is_young = false;               ///< another file may come to have this inode and this time of birth
};

/// The identity of the name itself, be it a symbolic link, in an opened directory.
/// none: nothing is there.  errors: Errc::local_read_failed
[[nodiscard]] Result<std::optional<FileIdentity>> identity_of(const files::FileLocation& location);

/// Whether a later look has found the same file, with the same content.
[[nodiscard]] bool is_same_identity(const FileIdentity& earlier, const FileIdentity& later);

/// Whether that is what this status tells of.
[[nodiscard]] bool is_identity_of(const FileIdentity& identity, const struct stat& status);

}  // namespace udtcat::trees
