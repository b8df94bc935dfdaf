// SPDX-License-Identifier: Apache-2.0
/// What a file system keeps of what it is given: it is asked, since no list of file systems is whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::files {

struct FileSystemTraits {
  std::chrono::nanoseconds time_unit{1};  ///< times are cut to multiples of it
  bool keeps_modes = true;
  bool folds_names = false;       ///< "A" and "a", or two spellings of one letter, are one name
  bool tells_of_changes = false;  ///< by the times of its files; see stamp.hpp
  bool obeys_syncfs = true;       ///< else each file and directory is to be synced by itself
};

/// Makes a file in a directory of ours, looks at what becomes of it, and removes it. What cannot be found out is taken
/// for the best: what is lost is looked for afterwards, too.
/// directory   opened, also by O_PATH.  Waits for the disk.
[[nodiscard]] FileSystemTraits traits_of(const bridge::Descriptor& directory);

/// What a directory gives the files that are made in it; between two that differ in it no file is renamed.
struct Surroundings {
  dev_t device = 0;
  std::uint64_t mount = 0;
  std::uint32_t project = 0;     ///< whose quota it is; 0: none is inherited
  std::optional<gid_t> group;    ///< none: that of the account
  std::string default_access{};  ///< the list that acl(5) calls the default ACL
  std::string label{};           ///< of SELinux
  friend bool operator==(const Surroundings&, const Surroundings&) = default;
};

/// What cannot be found out is as if it were not there.  directory   opened, also by O_PATH
[[nodiscard]] Surroundings surroundings_of(const bridge::Descriptor& directory);

}  // namespace udtcat::files
