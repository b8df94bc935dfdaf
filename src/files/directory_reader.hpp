// SPDX-License-Identifier: Apache-2.0
/// The names in a directory, one after the other.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::files {

/// In place of readdir(3), which takes the error ENOENT for the end, as it is of a removed directory alone.
/// Threads: unsynchronised; waits for the disk.
class DirectoryReader {
 public:
  /// directory   opened for reading, and not read yet
  explicit DirectoryReader(bridge::Descriptor directory) : directory_(std::move(directory)) {}

  /// Without "." and "..".  none: the end.  errors: an errno
  [[nodiscard]] tl::expected<std::optional<std::string>, int> next();
  [[nodiscard]] int number() const { return directory_.number(); }

 private:
  [[nodiscard]] bool was_removed() const;

  bridge::Descriptor directory_;
  std::vector<std::byte> entries_;  // as getdents64(2) gives them
  std::size_t begin_ = 0;           // of the next one
  std::size_t end_ = 0;
};

}  // namespace udtcat::files
