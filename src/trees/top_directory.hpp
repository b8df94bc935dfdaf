// SPDX-License-Identifier: Apache-2.0
/// The mode of the directory that a receiver writes into, which is there before it and stays behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <sys/types.h>

#include <udtcat/result.hpp>

#include "files/file_tree.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::trees {

/// While it lives its owner can write to the directory, also where an earlier transfer has made it read-only. The last
/// of several in a process restores the mode, unless somebody else has changed it meanwhile.
/// Threads: unsynchronised.
class TopDirectory {
 public:
  /// errors: Errc::local_write_failed
  [[nodiscard]] static Result<TopDirectory> open(const files::FileTree& tree);
  TopDirectory(TopDirectory&&) = default;
  TopDirectory& operator=(TopDirectory&&) = delete;
  ~TopDirectory();

  /// The directory has been given this mode, which the destructor is to restore.
  void keep_mode(std::uint32_t mode);
  /// The mode of a home, or of /, is not a sender's to change, as nobody can log in to a home that others may write to.
  /// home   the user's, besides that of the directory's owner; none: not known
  /// returns  none: the sender's mode is set
  [[nodiscard]] std::optional<std::uint32_t> own_mode(const std::optional<std::string>& home) const;

 private:
  explicit TopDirectory(std::shared_ptr<const bridge::Descriptor> directory) : directory_(std::move(directory)) {}

  std::shared_ptr<const bridge::Descriptor> directory_;
  std::optional<std::pair<dev_t, ino_t>> file_;  // of a directory that was made writable
};

}  // namespace udtcat::trees
