// SPDX-License-Identifier: Apache-2.0
/// A file that is read, and whether it stays the same meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include <sys/stat.h>

#include "files/file_location.hpp"
#include "lib/bridge/descriptor.hpp"
#include "trees/disk/fingerprint.hpp"
#include "trees/disk/writers.hpp"

namespace udtcat::trees {

/// Each change of the content since the construction is detected where the file system tells of it; where that is not
/// known, the file is to be read twice. Every call may wait for the disk.
/// Threads: unsynchronised.
class WatchedFile {
 public:
  using Pause = std::function<void(std::chrono::nanoseconds)>;

  /// The file as it was seen before.
  struct Announced {
    struct stat status {};
    std::optional<Fingerprint> fingerprint{};
  };

  /// location   where the file is.  pause   waits: until a change cannot leave the times as they are
  WatchedFile(files::FileLocation location, bridge::Descriptor file, const Announced& announced, const Pause& pause);

  [[nodiscard]] const bridge::Descriptor& file() const { return file_; }
  /// Whether the content was the announced one at the beginning.
  [[nodiscard]] bool is_as_announced() const { return is_as_announced_; }

  /// Whether the content has changed, once it has been read.
  enum class Seen {
    same,           ///< the content is that of the beginning
    other_content,  ///< it has changed
    unsure,         ///< it may have; where the file reads the same once more, it has not
  };
  [[nodiscard]] Seen look_again();
  /// Whether look_again() has seen the same times and size.
  [[nodiscard]] bool keeps_content() const;
  /// Whether look_again() has seen no change at all: mode, owner, links and attributes are those of the beginning, too.
  [[nodiscard]] bool keeps_state() const { return is_same_state(before_, after_); }
  /// The state in which it was read, after look_again(); none: it cannot be told.
  [[nodiscard]] std::optional<Fingerprint> fingerprint() const;

 private:
  const files::FileLocation location_;
  const bridge::Descriptor file_;
  const Writers writers_;  // at the beginning
  bool tells_ = false;     // each change changes the times, a store through a mapping, too
  bool is_as_announced_ = false;
  struct stat before_ {};
  struct stat after_ {};
  std::optional<Fingerprint> fingerprint_;  // of before_
};

}  // namespace udtcat::trees
