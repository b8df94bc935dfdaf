// SPDX-License-Identifier: Apache-2.0
/// The names that a sender announces, and the files behind them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "files/file_tree.hpp"
#include "files/tree_walk.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::trees {

/// A name of a source, by which its file is found again.
struct Place {
  std::size_t root = 0;
  std::string path;  ///< below it
};

struct SourceItem {
  std::string path;  ///< at the receiver
  Place place;
  files::Visited visited;
};

/// Of "a/b//": "b", the name under which an argument stands at the receiver; "", "." and "..": what is in it does.
[[nodiscard]] std::string last_word(const std::string& argument);
[[nodiscard]] bool means_content(const std::string& last_word);

/// Arguments stand at the receiver under their last names, with all that is below them; those that end in "." give what
/// is in them. Names of a list stand there as they are, and bring nothing that is below them, but the directories that
/// they are in.
/// Every call may wait for the disk.
/// Threads: unsynchronised.
class Source {
 public:
  /// arguments   as the user's shell would take them
  /// errors: Errc::local_read_failed; Errc::bad_argument for two of one name
  [[nodiscard]] static Result<Source> of_arguments(const std::vector<std::string>& arguments);
  /// Arguments of a peer, below `tree`; none: all of it.
  /// errors: Errc::stream_refused for a path that leads elsewhere; Errc::local_read_failed
  [[nodiscard]] static Result<Source> of_tree(const files::FileTree& tree, const std::vector<std::string>& arguments);
  /// errors: Errc::local_read_failed
  [[nodiscard]] static Result<Source> of_list(std::vector<std::string> names);

  /// None: that was all.  errors: Errc::local_read_failed, of one name; the rest can be had
  [[nodiscard]] std::optional<Result<SourceItem>> next();
  /// The file at a place, to be read.  errors: Errc::local_read_failed
  [[nodiscard]] Result<bridge::Descriptor> open(const Place& place);
  /// Looks again at a place.  none: nothing is there
  [[nodiscard]] Result<std::optional<files::Visited>> look(const Place& place);

 private:
  struct Root {
    files::FileTree tree;
    std::string begin;  // empty: what is in the tree's directory
  };

  Source() = default;
  [[nodiscard]] Status add(files::FileTree tree, std::string begin);
  [[nodiscard]] std::optional<Result<SourceItem>> next_of_walk();
  [[nodiscard]] std::optional<Result<SourceItem>> next_of_list();
  [[nodiscard]] std::string first_unlisted(const std::string& path) const;
  [[nodiscard]] files::TreeCursor& cursor_of(const Place& place);

  std::vector<Root> roots_;
  std::size_t next_root_ = 0;
  std::optional<files::TreeWalk> walk_;
  std::vector<std::string> list_;              // of names that are still to come, the next one last
  std::map<std::string, std::size_t> listed_;  // names that have come
  std::optional<files::TreeCursor> cursor_;    // of the root that was asked for last
  std::size_t cursor_root_ = 0;
};

}  // namespace udtcat::trees
