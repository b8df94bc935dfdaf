// SPDX-License-Identifier: Apache-2.0
/// The names that a sender announces, and the files behind them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/file_tree.hpp"
#include "lib/bridge/descriptor.hpp"
#include "trees/disk/tree_walk.hpp"

namespace udtcat::trees {

/// The reason why a name of is_parts_name() is not sent.
inline constexpr const char* kLeftByATransfer = "a transfer that was cut has left it; go on with that, or remove it";

/// A name of a source, by which its file is found again.
struct SourceName {
  std::size_t root = 0;
  std::string path;  ///< below it
};

struct SourceItem {
  std::string path;  ///< at the receiver
  SourceName source_name;
  Visited visited;
};

/// The name under which an argument stands at the receiver: "b" of "a/b//"; "", "." and "..": what is in it does.
[[nodiscard]] std::string last_word(const std::string& argument);
[[nodiscard]] bool means_content(const std::string& last_word);

/// Arguments stand at the receiver under their last names, with all that is below them; those that end in "." give what
/// is in them. One that ends in "/" is a directory, also where a symbolic link leads to it. Names of a list stand there
/// as they are, and bring nothing that is below them, but the directories that they are in. No two of them have one
/// name, and no name of what is in one directory is another argument's.
/// Few directories are kept open, however many arguments there are.
/// Every call may wait for the disk.
/// Threads: unsynchronised.
class Source {
 public:
  /// arguments   as the user's shell would take them
  /// errors: Errc::local_read_failed, also for one that ends in "/" and is no directory; Errc::bad_argument for two of
  /// one name
  [[nodiscard]] static Result<Source> of_arguments(const std::vector<std::string>& arguments);
  /// Arguments of a peer, below `tree`; none: all of it.
  /// errors: Errc::stream_refused for a path that leads elsewhere; those of of_arguments()
  [[nodiscard]] static Result<Source> of_tree(const files::FileTree& tree, const std::vector<std::string>& arguments);
  /// errors: Errc::local_read_failed
  [[nodiscard]] static Result<Source> of_list(std::vector<std::string> names);

  /// None: that was all.  errors, of these four: Errc::local_read_failed
  [[nodiscard]] std::optional<NameResult<SourceItem>> next();
  /// The file of `source_name`, to be read.
  [[nodiscard]] NameResult<bridge::Descriptor> open(const SourceName& source_name);
  [[nodiscard]] NameResult<files::FileLocation> locate(const SourceName& source_name);
  /// Looks again at the file of `source_name`.  none: nothing is there
  [[nodiscard]] NameResult<std::optional<Visited>> look(const SourceName& source_name);

 private:
  /// A directory in which arguments are, or whose content one means.
  struct Parent {
    std::string path;                       // below base_, or as the user's programs see it
    bool may_be_link = false;               // below base_: the last word may be one
    struct stat status {};                  // it is entered only while it is this one
    std::optional<files::FileTree> tree{};  // of the first ones; the others are opened when they are needed
  };
  /// An argument: `begin` is its name in the directory above, or empty: what is in that.
  struct Root {
    std::size_t parent = 0;
    std::string begin;
    std::string name;  // at the receiver; empty: what is below it has its own
  };

  Source() = default;
  [[nodiscard]] Status add(Parent parent, std::string begin, std::string name);
  [[nodiscard]] Result<std::size_t> index_of(Parent parent);
  [[nodiscard]] Status refuse_names_in_content();
  [[nodiscard]] Result<files::FileTree> find(const Parent& parent) const;
  [[nodiscard]] Result<files::FileTree> enter(std::size_t parent) const;
  [[nodiscard]] Status begin_walk();
  [[nodiscard]] bool is_anothers(std::size_t root, const struct stat& status);
  [[nodiscard]] std::optional<std::size_t> other_of_name(const SourceName& source_name) const;
  [[nodiscard]] std::optional<NameResult<SourceItem>> next_of_walk();
  [[nodiscard]] std::optional<NameResult<SourceItem>> next_of_list();
  [[nodiscard]] NameResult<SourceItem> visit_listed(const std::string& name, const std::string& path, std::size_t root);
  [[nodiscard]] NameResult<SourceName> directory_at(const std::string& name, SourceName source_name);
  [[nodiscard]] std::string first_unlisted(const std::string& path) const;
  [[nodiscard]] NameResult<files::TreeCursor*> cursor_of(const SourceName& source_name);

  std::optional<files::FileTree> base_;  // of a peer's arguments
  std::vector<Parent> parents_;
  std::map<std::string, std::size_t> parent_indices_;  // of their paths
  std::vector<Root> roots_;
  std::map<std::string, std::size_t> names_;  // of arguments; empty: that of a content
  std::size_t next_root_ = 0;
  std::optional<TreeWalk> walk_;
  std::vector<std::string> list_;              // of names that are still to come, the next one last
  std::map<std::string, std::size_t> listed_;  // names that have come
  std::optional<files::TreeCursor> cursor_;    // of the directory that was asked for last
  std::size_t cursor_parent_ = 0;
};

}  // namespace udtcat::trees
