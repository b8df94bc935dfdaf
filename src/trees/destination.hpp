// SPDX-License-Identifier: Apache-2.0
/// The receiver's directory: names are made and replaced there, never outside, and never half.
/// spec: docs/spec/trees.md §5
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/file_tree.hpp"
#include "trees/disk/attributes.hpp"
#include "trees/disk/name_error.hpp"
#include "trees/disk/partial_files.hpp"
#include "trees/message.hpp"
#include "trees/written_names.hpp"

namespace udtcat::trees {

/// Every call may wait for the disk. What a file system does not keep of attributes is told to WrittenNames.
/// Errors: Errc::local_write_failed, Errc::local_read_failed; those of WriteBudget, where the result is a Scoped one.
/// Threads: unsynchronised; each thread has one of its own.
class Destination {
 public:
  /// `written` outlives this.  is_over   the transfer is: asked before each chunk of long work
  Destination(files::FileTree tree, PartialFiles parts, WrittenNames& written, bool keeps_owners,
              std::function<bool()> is_over)
      : cursor_(std::move(tree)),
        parts_(std::move(parts)),
        written_(written),
        keeps_owners_(keeps_owners),
        is_over_(std::move(is_over)) {}

  [[nodiscard]] const files::FileTree& tree() const { return cursor_.tree(); }
  [[nodiscard]] WriteBudget& write_budget() { return written_.write_budget(); }
  /// For long work.  errors: Errc::connection_broken, of the transfer, which is over
  [[nodiscard]] ScopedStatus check_not_over(const std::string& path) const;
  /// A name is going to be made, with its attributes.  errors: those of WriteBudget::charge()
  [[nodiscard]] ScopedResult<files::DirectoryUse::Reservation> charge_name(const Entry& entry);
  [[nodiscard]] NameResult<files::FileLocation> locate(const std::string& path);
  /// None: nothing is there.
  [[nodiscard]] NameResult<std::optional<struct stat>> look(const std::string& path);

  /// The folder for parts of the files in a path's directory.
  [[nodiscard]] NameResult<PartsFolder> folder_of(const std::string& path);
  /// Whether a name can be made at a path, or replace what is there: asked before the contents come.
  [[nodiscard]] NameStatus check_place(const std::string& path, const std::optional<struct stat>& there);

  /// Until it has its attributes only this account can use it.
  /// returns  the directory, which this transfer holds for that name from now on
  [[nodiscard]] ScopedResult<struct stat> make_directory(const Entry& entry);
  /// A symbolic link, a FIFO or a device, with its attributes.
  [[nodiscard]] ScopedStatus make(const Entry& entry);
  /// Makes `path` a hard link to the file at `of`, if that is still `file`; a copy where there are no hard links.
  [[nodiscard]] ScopedStatus make_hard_link(const std::string& path, const std::string& of, const struct stat& file);
  /// Gives what is open, at an entry's path, its attributes.  is_new   it was just made
  [[nodiscard]] NameStatus set_attributes_of(const bridge::Descriptor& opened, const Entry& entry, bool is_new);
  /// The mode that a directory on a file system is to get: where a limit counts what is in it, its owner can list it,
  /// which is told as a loss.
  [[nodiscard]] std::uint32_t mode_to_give(const std::string& path, std::uint32_t wanted, dev_t device);
  /// Gives a directory its attributes, if it is still the one of `made`.
  [[nodiscard]] NameStatus set_directory(const std::string& path, const Attributes& attributes,
                                         const struct stat& made);
  /// Whether what is at an entry's path has its attributes, but for the extended ones.
  [[nodiscard]] NameResult<bool> has_attributes(const struct stat& status, const Entry& entry);
  /// Whether sync() stores what is on a file system; else each file is to be synced before it has its name.
  [[nodiscard]] bool obeys_syncfs(dev_t device) const;
  /// Returns when all that was written is on the disk.  errors: Errc::local_write_failed, of the transfer
  [[nodiscard]] Status sync();

  /// Fails where an earlier entry has put in place what is at a path: by this path, or a name that is the same here.
  [[nodiscard]] NameStatus check_own(const std::string& path, const struct stat& there);
  /// The file at a path belongs to an entry from now on.  file   its status when it was verified
  /// returns  its status now
  [[nodiscard]] NameResult<struct stat> hold(const std::string& path, const struct stat& file);
  /// Renames the part to its path.  whole   its status when it was complete
  /// returns  its status now
  [[nodiscard]] NameResult<struct stat> publish(const std::string& path, const struct stat& whole);

 private:
  [[nodiscard]] NameResult<AttributeTraits> attribute_traits(const std::string& path);
  [[nodiscard]] Status sync_names(const bridge::Descriptor& directory, const std::string& shown) const;
  [[nodiscard]] NameStatus give(const bridge::Descriptor& opened, const Attributes& attributes, const std::string& path,
                                bool is_new);
  [[nodiscard]] NameStatus enter(const std::string& path);
  [[nodiscard]] NameResult<bool> take_as_it_is(const Entry& entry, const files::FileLocation& location);
  [[nodiscard]] Status make_part(const Entry& entry, const files::FileLocation& part) const;
  [[nodiscard]] NameStatus check_own_locked(const files::FileLocation& location, const std::string& path,
                                            const struct stat& there) UDTCAT_REQUIRES(written_.names());
  [[nodiscard]] bool is_listed(const files::FileLocation& location, const std::string& path);
  [[nodiscard]] ScopedStatus copy_content(const bridge::Descriptor& from, const bridge::Descriptor& to,
                                          const std::string& path);
  [[nodiscard]] ScopedStatus copy(const files::FileLocation& original, const std::string& path);

  /// The directory whose names were asked for last, and whether names can be made in it.
  struct CachedDirectory {
    std::string path;
    struct stat status {};
    NameStatus is_writable{};
    std::optional<PartsFolder> folder{};  ///< once it was needed
  };

  files::TreeCursor cursor_;
  const PartialFiles parts_;
  WrittenNames& written_;
  const bool keeps_owners_;
  const std::function<bool()> is_over_;
  std::optional<CachedDirectory> directory_;
  /// The names of the directory that was listed last, in their order.
  struct Listed {
    std::string path;
    std::vector<std::string> names;
  };
  std::optional<Listed> listed_;
};

}  // namespace udtcat::trees
