// SPDX-License-Identifier: Apache-2.0
/// Whether somebody else may store into a file, also through a mapping, which leaves no trace in its times.
#pragma once

#include "lib/bridge/descriptor.hpp"

namespace udtcat::trees {

/// The writers of a file at one moment.
enum class Writers {
  none,     ///< nobody has it open for writing, nor mapped for it: the next store changes its times
  some,     ///< somebody has
  unknown,  ///< it is another account's, or its file system has no leases
};

/// Asked by a lease that is given back at once (fcntl(2), F_SETLEASE): who opens the file meanwhile waits as long.
/// file   opened for reading alone
/// Threads: any.
[[nodiscard]] Writers writers_of(const bridge::Descriptor& file);

/// Writes to the disk, and waits for it, what was stored so far through mappings (sync_file_range(2)): the next store
/// through one changes the file's times, too.
/// returns  false: that cannot be had
[[nodiscard]] bool write_back(const bridge::Descriptor& file);

/// Has the next reads come from the disk: after a write-back that failed the page cache may hold what the disk does
/// not, and only who asked first was told. spec: fsync(2), errors
/// file   opened for writing, too
/// returns  false: what was stored cannot be written back
[[nodiscard]] bool drop_page_cache(const bridge::Descriptor& file);

/// Where writers() is none: who opens the file for writing waits while this lives, until the kernel breaks the lease,
/// and is_quiet() is false then. Else it holds nothing. Threads: unsynchronised.
class QuietFile {
 public:
  /// file   opened for reading alone; it outlives this
  explicit QuietFile(const bridge::Descriptor& file);
  QuietFile(const QuietFile&) = delete;
  QuietFile& operator=(const QuietFile&) = delete;
  ~QuietFile();

  /// Writers at the beginning.
  [[nodiscard]] Writers writers() const { return writers_; }
  /// Whether that is so still, and nobody waits to write.
  [[nodiscard]] bool is_quiet() const;

 private:
  const bridge::Descriptor& file_;
  const Writers writers_;
};

}  // namespace udtcat::trees
