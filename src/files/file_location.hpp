// SPDX-License-Identifier: Apache-2.0
/// A name in a directory: where a file is, or will be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::files {

struct MountNumber {
  std::uint64_t number = 0;  ///< 0: a kernel before 5.8, which does not tell
  bool is_unique = false;    ///< else another mounting may have it later: a kernel before 6.8
  friend bool operator==(const MountNumber&, const MountNumber&) = default;
};
/// directory   also by O_PATH
[[nodiscard]] MountNumber mount_of(const bridge::Descriptor& directory);

/// Whether both are of one file, be it changed in between or not.
[[nodiscard]] inline bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Of a symbolic link that is open by O_PATH.  shown   for messages.  errors: Errc::local_read_failed
[[nodiscard]] Result<std::string> read_target_of(const bridge::Descriptor& link, const std::string& shown);

/// Threads: immutable.
class FileLocation {
 public:
  /// As every program of the user sees it.
  explicit FileLocation(std::string path);
  /// `name`, which holds no '/', in an opened directory, and not where a symbolic link of that name leads.
  /// shown   for messages
  FileLocation(std::shared_ptr<const bridge::Descriptor> directory, std::string name, std::string shown);

  [[nodiscard]] FileLocation with_suffix(const std::string& suffix) const;
  /// Never waits for the other end of a pipe.
  /// flags   of open(2).  errors: as said by `code`
  [[nodiscard]] Result<bridge::Descriptor> open(int flags, Errc code) const;
  /// Of the name itself where it is in an opened directory, be it a symbolic link; none: nothing is there.
  /// errors: Errc::local_read_failed
  [[nodiscard]] Result<std::optional<struct stat>> look() const;
  /// Of the name itself wherever it is, be it a symbolic link.  errors: the same
  [[nodiscard]] Result<std::optional<struct stat>> look_at_name() const;
  /// A file is there, not behind a link, and it has no other name.
  [[nodiscard]] bool is_only_name() const;
  /// A new file, opened with more flags of open(2); none: something is there already.  errors: Errc::local_write_failed
  [[nodiscard]] Result<std::optional<bridge::Descriptor>> make_file(int flags) const;
  /// A new file that has no name until take_name(); nothing is left of it where the process ends before.
  /// none: not on this file system, or /proc is not there
  [[nodiscard]] std::optional<bridge::Descriptor> make_nameless_file(int flags) const;
  /// errors: Errc::local_write_failed, also where something is there already
  [[nodiscard]] Status take_name(const bridge::Descriptor& nameless) const;
  /// As statx(2) says, not through a link; none: it says why in errno.
  [[nodiscard]] std::optional<struct statx> look_by(unsigned mask) const;
  /// The birth time, as text; empty where the file system has none.
  [[nodiscard]] std::string birth() const;
  /// The file is also found by its name in other case: README and readme are one.
  [[nodiscard]] bool ignores_case() const;
  /// The file system of a directory, as statfs(2) has it.
  struct FileSystem {
    std::uint64_t type = 0;
    std::uint64_t id = 0;
    MountNumber mount;
    dev_t device = 0;
  };
  [[nodiscard]] std::optional<FileSystem> file_system_of(const struct stat& status) const;
  [[nodiscard]] const std::shared_ptr<const bridge::Descriptor>& above() const { return directory_; }
  /// Whether the directory has the name in this very spelling, where look() has found it.
  [[nodiscard]] bool is_listed() const;
  /// All names in its directory, in their order.  none: it cannot be listed
  [[nodiscard]] std::optional<std::vector<std::string>> names_beside() const;
  [[nodiscard]] bool exists() const;
  [[nodiscard]] bool is_directory() const;
  /// It is there, and neither a file nor a directory.
  [[nodiscard]] bool is_special() const;
  [[nodiscard]] std::optional<std::uint64_t> size() const;
  /// Whether this is still a name of what is open.
  [[nodiscard]] bool leads_to(const bridge::Descriptor& descriptor) const;
  /// The same, and no symbolic link leads there.
  [[nodiscard]] bool names(const bridge::Descriptor& descriptor) const;
  /// Replaces a file at `to`.  errors: Errc::local_write_failed
  [[nodiscard]] Status rename_to(const FileLocation& to) const;
  /// Returns when the name is on the disk, as rename_to() has made it: no power cut takes it back.
  /// errors: Errc::local_write_failed
  [[nodiscard]] Status sync_name() const;
  void remove() const;
  /// A path by which calls that take no directory reach it; of this process alone.
  [[nodiscard]] std::string path_by_descriptor() const;
  /// Of a symbolic link.  errors: Errc::local_read_failed
  [[nodiscard]] Result<std::string> read_target() const;
  // errors, of these: Errc::local_write_failed, also where something is there already
  [[nodiscard]] Status make_directory(mode_t mode) const;
  [[nodiscard]] Status make_symbolic_link(const std::string& target) const;
  [[nodiscard]] Status make_hard_link(const FileLocation& of) const;
  /// mode   with its kind, as mknod(2) has it.  device   of a device
  [[nodiscard]] Status make_node(mode_t mode, dev_t device) const;
  [[nodiscard]] const std::string& shown() const { return shown_; }

 private:
  [[nodiscard]] int directory() const;
  [[nodiscard]] Status made(int result) const;

  std::shared_ptr<const bridge::Descriptor> directory_;  // none: the current one
  std::string name_;
  std::string shown_;
};

}  // namespace udtcat::files
