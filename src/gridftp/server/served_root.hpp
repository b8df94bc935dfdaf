// SPDX-License-Identifier: Apache-2.0
/// The directory that a server serves, and all below it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/directory_reader.hpp"
#include "files/file_location.hpp"
#include "files/file_tree.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::gridftp {

/// A file as a listing shows it. A symbolic link is what it leads to, or a link where that is nothing, or a directory
/// that it is in.
struct FileFacts {
  enum class Kind { file, directory, link, other };
  std::string name;
  Kind kind = Kind::other;
  std::uint64_t size_bytes = 0;
  std::int64_t changed = 0;  ///< seconds since 1970
  unsigned mode = 0;         ///< permissions, as in stat(2)
  bool writable = false;     ///< by this process
  char letter = '-';         ///< of its type, as in ls(1)
  std::string leads_to;      ///< of a link: as it says
};

/// The entries of a directory, in slices; each may wait for the disk.
/// Threads: unsynchronised.
class DirectoryWalk {
 public:
  /// At most so many further entries, sorted by name among themselves; empty: that was all.
  /// errors: Errc::local_read_failed, also for a shortage that passes (EMFILE, ENOMEM) while a name is looked at
  [[nodiscard]] Result<std::vector<FileFacts>> next(std::size_t most_entries);
  /// From now on only names that match, each behind `above`, the directory as the client writes it.
  void select(std::string pattern, std::string above) {
    pattern_ = std::move(pattern);
    above_name_ = std::move(above);
  }
  /// Names so far whose status cannot be read, not for a shortage that passes; not those that have gone meanwhile.
  [[nodiscard]] std::size_t without_status() const { return without_status_; }
  [[nodiscard]] int errno_value() const { return errno_value_; }  ///< of the last of those

 private:
  friend class ServedRoot;
  using File = std::pair<std::uint64_t, std::uint64_t>;  // device, number
  DirectoryWalk(std::shared_ptr<const bridge::Descriptor> root, std::shared_ptr<files::DirectoryReader> reader,
                std::string shown)
      : root_(std::move(root)), reader_(std::move(reader)), shown_(std::move(shown)) {}
  /// errors: an errno
  [[nodiscard]] tl::expected<FileFacts, int> look_at(const std::string& name);
  [[nodiscard]] tl::expected<FileFacts, int> of_link(const std::string& name, const struct stat& link);
  [[nodiscard]] tl::expected<bool, int> is_above(File directory);

  std::shared_ptr<const bridge::Descriptor> root_;
  std::shared_ptr<files::DirectoryReader> reader_;
  std::string shown_;
  std::string pattern_, above_name_;
  std::vector<File> above_;  // shown_ and the directories above it, once a link asks
  std::size_t without_status_ = 0;
  int errno_value_ = 0;
};

/// Every call may wait for the disk: see DiskThreads. Paths are the peer's: "/" is the root, ".." ends there, and
/// symbolic links are followed as if the root were all there is.
/// Errors name the peer's path, not ours: Errc::local_read_failed or Errc::local_write_failed, with the system's cause.
/// Threads: immutable.
class ServedRoot {
 public:
  /// errors: Errc::bad_argument where it is no directory, or the platform cannot keep a peer inside
  [[nodiscard]] static Result<ServedRoot> open(const std::string& directory);
  /// A directory below is all that a peer sees; no symbolic link is followed on the way to it.
  /// is_made   where it is not there, with those on the way.  errors: Errc::local_read_failed, Errc::local_write_failed
  [[nodiscard]] Result<ServedRoot> below(const std::string& directory, bool is_made) const;
  [[nodiscard]] files::FileTree tree() const { return files::FileTree::of(root_, "/"); }

  [[nodiscard]] Result<bridge::Descriptor> open_to_read(const std::string& path) const;
  /// Where a file of that name goes. Its directory is there.
  [[nodiscard]] Result<files::FileLocation> location_of(const std::string& path) const;
  [[nodiscard]] Result<FileFacts> facts_of(const std::string& path) const;
  /// False also where that cannot be told.
  [[nodiscard]] bool has_nothing_at(const std::string& path) const;
  [[nodiscard]] Result<DirectoryWalk> list(const std::string& path) const;
  [[nodiscard]] Status make_directory(const std::string& path) const;
  [[nodiscard]] Status remove(const std::string& path, bool directory) const;

 private:
  explicit ServedRoot(bridge::Descriptor root) : root_(std::make_shared<const bridge::Descriptor>(std::move(root))) {}
  explicit ServedRoot(std::shared_ptr<const bridge::Descriptor> root) : root_(std::move(root)) {}
  struct SplitPath;
  [[nodiscard]] Result<SplitPath> part(const std::string& path) const;

  std::shared_ptr<const bridge::Descriptor> root_;
};

}  // namespace udtcat::gridftp
