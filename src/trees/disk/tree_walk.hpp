// SPDX-License-Identifier: Apache-2.0
/// Visits everything below a name, without following a symbolic link.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "files/file_tree.hpp"
#include "trees/disk/name_error.hpp"

namespace udtcat::trees {

/// A name that a walk has come to.
struct Visited {
  std::string path;  ///< in the tree; empty: the tree's directory itself
  files::FileLocation location;
  struct stat status {};
};

/// A directory comes before what is in it, which comes in the order of the names. One directory is open at a time, and
/// the names of those above it are in memory. Directories of parts (is_parts_name()) are visited, and not entered.
/// Every call may wait for the disk.
/// Threads: unsynchronised.
class TreeWalk {
 public:
  /// begin   a path in the tree; empty: the tree's directory
  TreeWalk(files::FileTree tree, std::string begin) : cursor_(std::move(tree)), begin_(std::move(begin)) {}

  /// None: that was all.
  /// errors: Errc::local_read_failed, of a name or a directory; the walk goes on behind it
  [[nodiscard]] std::optional<NameResult<Visited>> next();
  /// Leaves out all that is below the directory that was visited last.
  void pass_over() { to_descend_.reset(); }

 private:
  struct Directory {
    std::string path;
    struct stat status {};
  };
  struct Level {
    std::string path;
    std::vector<std::string> names;  // in reverse order: the next one is the last
  };

  [[nodiscard]] std::optional<NameResult<Visited>> visit(const std::string& path);
  [[nodiscard]] NameStatus descend(const Directory& directory);

  files::TreeCursor cursor_;
  std::optional<std::string> begin_;     // until it is visited
  std::optional<Directory> to_descend_;  // the one that was visited last
  std::vector<Level> levels_;
};

}  // namespace udtcat::trees
