// SPDX-License-Identifier: Apache-2.0
/// A directory, and what is below it without following a symbolic link.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::files {

/// All names in a directory, in their order.  directory   opened for reading, or not open: errno is said
/// returns  none: errno says why
[[nodiscard]] std::optional<std::vector<std::string>> names_in(bridge::Descriptor directory);

/// Every call may wait for the disk. A path is of words with '/' between, none of which is "..";
/// empty: the directory itself. A symbolic link on the way is an error, whoever puts it there meanwhile.
/// Threads: immutable.
class FileTree {
 public:
  struct Entry {
    enum class Kind { file, directory, link, special };
    std::string name;
    Kind kind = Kind::special;
  };

  /// errors: Errc::local_read_failed
  [[nodiscard]] static Result<FileTree> open(const std::string& directory);
  /// The same; the directory is made where it is not there.  errors: Errc::local_write_failed
  [[nodiscard]] static Result<FileTree> make(const std::string& directory);

  /// Of a directory that is open.  shown   for messages
  [[nodiscard]] static FileTree of(std::shared_ptr<const bridge::Descriptor> directory, std::string shown) {
    return {std::move(directory), std::move(shown)};
  }

  /// The tree below a directory that is made where it is not there, with those on the way to it.  path   may be empty
  /// errors: Errc::local_write_failed
  [[nodiscard]] Result<FileTree> make_below(const std::string& path) const;
  /// The tree below one of its directories.  errors: as said by `code`
  [[nodiscard]] Result<FileTree> below(const std::string& path, Errc code) const;
  /// The same; the last word may be a symbolic link that leads to a directory of this tree.
  [[nodiscard]] Result<FileTree> below_link(const std::string& path, Errc code) const;
  /// The file of that path, whose directory is there.  errors: as said by `code`
  [[nodiscard]] Result<FileLocation> locate(const std::string& path, Errc code) const;
  /// A directory that is there is no error.  errors: Errc::local_write_failed
  [[nodiscard]] Status make_directory(const std::string& path) const;
  /// In their order.
  /// expected   what the directory was; null: whatever is there
  /// errors: Errc::local_read_failed, also where it is another one by now
  [[nodiscard]] Result<std::vector<std::string>> names(const std::string& path,
                                                       const struct stat* expected = nullptr) const;
  /// Of the tree's own directory.  errors: Errc::local_read_failed
  [[nodiscard]] Result<struct stat> look() const;
  /// In the order of their names.  errors: Errc::local_read_failed
  [[nodiscard]] Result<std::vector<Entry>> list(const std::string& path) const;
  /// The directory of that path.  errors: as said by `code`
  [[nodiscard]] Result<std::shared_ptr<const bridge::Descriptor>> enter(const std::string& path, Errc code) const;
  [[nodiscard]] std::string shown(const std::string& path) const;

 private:
  FileTree(std::shared_ptr<const bridge::Descriptor> root, std::string shown)
      : root_(std::move(root)), shown_(std::move(shown)) {}
  FileTree(bridge::Descriptor root, std::string shown)
      : FileTree(std::make_shared<const bridge::Descriptor>(std::move(root)), std::move(shown)) {}
  [[nodiscard]] Result<std::shared_ptr<const bridge::Descriptor>> enter_by_words(const std::string& path,
                                                                                 Errc code) const;
  [[nodiscard]] tl::unexpected<Error> cannot_enter(const std::string& path, Errc code, int error) const;

  std::shared_ptr<const bridge::Descriptor> root_;
  std::string shown_;
};

/// Finds files of a tree, one after another: the last one's directory is kept open, as the next is often in it, too.
/// Threads: unsynchronised.
class TreeCursor {
 public:
  explicit TreeCursor(FileTree tree) : tree_(std::move(tree)) {}

  [[nodiscard]] Result<FileLocation> locate(const std::string& path, Errc code);
  [[nodiscard]] const FileTree& tree() const { return tree_; }

 private:
  const FileTree tree_;
  std::string above_;
  std::shared_ptr<const bridge::Descriptor> directory_;  // of above_; none: not entered
};

}  // namespace udtcat::files
