// SPDX-License-Identifier: Apache-2.0
/// The files that a server shows: one directory, and what is below it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::gridftp {

/// A file as a listing shows it.
struct FileFacts {
  enum class Kind { file, directory, other };
  std::string name;
  Kind kind = Kind::other;
  std::uint64_t size_bytes = 0;
  std::int64_t changed = 0;  ///< seconds since 1970
  unsigned mode = 0;         ///< permissions, as in stat(2)
  bool writable = false;     ///< by this process
};

/// The entries of a directory, in slices; each may wait for the disk.
/// Threads: unsynchronised.
class DirectoryWalk {
 public:
  /// So many more, or fewer, in the order of their names among themselves; none: that was all.
  /// errors: Errc::local_read_failed
  [[nodiscard]] Result<std::vector<FileFacts>> next(std::size_t most_entries);

 private:
  friend class ServedRoot;
  struct Handle;
  DirectoryWalk(std::shared_ptr<Handle> handle, std::string shown)
      : handle_(std::move(handle)), shown_(std::move(shown)) {}

  std::shared_ptr<Handle> handle_;
  std::string shown_;
};

/// Every call may wait for the disk: see DiskThreads. Paths are the peer's: "/" is the root, ".." ends there, and
/// symbolic links are followed as if the root were all there is.
/// Errors name the peer's path, not ours: Errc::local_read_failed or Errc::local_write_failed, with the system's cause.
/// Threads: immutable.
class ServedRoot {
 public:
  /// errors: Errc::bad_argument where it is no directory, or the platform cannot keep a peer inside
  [[nodiscard]] static Result<ServedRoot> open(const std::string& directory);

  [[nodiscard]] Result<bridge::Descriptor> open_to_read(const std::string& path) const;
  /// Where a file of that name goes. Its directory is there.
  [[nodiscard]] Result<files::FileLocation> location_of(const std::string& path) const;
  [[nodiscard]] Result<FileFacts> facts_of(const std::string& path) const;
  [[nodiscard]] Result<DirectoryWalk> list(const std::string& path) const;
  [[nodiscard]] Status make_directory(const std::string& path) const;
  [[nodiscard]] Status remove(const std::string& path, bool directory) const;
  [[nodiscard]] Status rename(const std::string& from, const std::string& to) const;

 private:
  explicit ServedRoot(bridge::Descriptor root) : root_(std::make_shared<const bridge::Descriptor>(std::move(root))) {}
  struct Parted;
  [[nodiscard]] Result<Parted> part(const std::string& path) const;

  std::shared_ptr<const bridge::Descriptor> root_;
};

}  // namespace udtcat::gridftp
