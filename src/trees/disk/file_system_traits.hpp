// SPDX-License-Identifier: Apache-2.0
/// Traits of a file system, which is asked for them, since no list of file systems is whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "files/file_location.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::trees {

struct FileSystemTraits {
  std::chrono::nanoseconds time_unit{1};  ///< times are cut to multiples of it
  bool keeps_modes = true;
  bool folds_names = false;       ///< "A" and "a", or two spellings of one letter, are one name
  bool folds_into_inodes = true;  ///< and each spelling shows the same inode
  bool tells_of_changes = false;  ///< by the times of its files; see fingerprint.hpp
  bool obeys_syncfs = true;       ///< else each file and directory is to be synced by itself
  bool writes_by_syncfs = true;   ///< syncfs(2) stores all, whether it tells of errors or not
};

/// Makes a file in a directory of ours, looks at what becomes of it, and removes it. Of times, modes and names
/// what cannot be found out is taken for the best, as losses are looked for afterwards; of the others for the worst.
/// directory   opened, also by O_PATH.  Waits for the disk.
[[nodiscard]] FileSystemTraits traits_of(const bridge::Descriptor& directory);

/// Whether a directory's file system is one that this kernel keeps on its own disks or in its memory.
/// directory   opened, also by O_PATH
[[nodiscard]] bool is_of_this_host(const bridge::Descriptor& directory);

/// The properties that a directory gives the files which are made in it; between two that differ in it no file is
/// renamed.
struct DirectoryContext {
  dev_t device = 0;
  files::MountNumber mount{};
  std::uint32_t project = 0;     ///< whose quota it is; 0: none is inherited
  std::optional<gid_t> group;    ///< none: that of the account
  std::string default_access{};  ///< the list that acl(5) calls the default ACL
  std::string label{};           ///< of SELinux
  friend bool operator==(const DirectoryContext&, const DirectoryContext&) = default;
};

/// A property that cannot be found out is as if it were not there.  directory   opened, also by O_PATH
[[nodiscard]] DirectoryContext directory_context_of(const bridge::Descriptor& directory);

}  // namespace udtcat::trees
