// SPDX-License-Identifier: Apache-2.0
#include "trees/source.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/entry_path.hpp"
#include "trees/disk/fingerprint.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

namespace {

using files::FileTree;

// The roots of a list, in their order.
constexpr std::size_t kWorkingDirectory = 0;
constexpr std::size_t kRootDirectory = 1;

constexpr std::size_t kMaxKeptOpen = 16;  // guess: a command has few; a peer may ask for thousands

/// "a/b//": "a" and "b"; "b": "." and "b"; "/b": "/" and "b".
std::pair<std::string, std::string> split_last(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// "./a//b/": "a/b", as an entry has it.
std::string normal_path(const std::string& path) {
  std::string clean;
  for (std::size_t at = 0; at < path.size();) {
    const auto slash = std::min(path.find('/', at), path.size());
    const std::string word = path.substr(at, slash - at);
    if (!word.empty() && word != ".") clean += (clean.empty() ? "" : "/") + word;
    at = slash + 1;
  }
  return clean.empty() ? "." : clean;
}

}  // namespace

std::string last_word(const std::string& argument) { return split_last(argument).second; }

bool means_content(const std::string& last_word) { return last_word.empty() || last_word == "." || last_word == ".."; }

Result<Source> Source::of_arguments(const std::vector<std::string>& arguments) {
  Source source;
  for (const std::string& argument : arguments) {
    const auto [parent, last] = split_last(argument);
    if (means_content(last)) {
      UDTCAT_CHECK(source.add({argument}, "", ""));
    } else if (argument.ends_with('/')) {
      UDTCAT_CHECK(source.add({argument}, "", last));
    } else {
      UDTCAT_CHECK(source.add({parent}, last, last));
    }
  }
  UDTCAT_CHECK(source.refuse_names_in_content());
  return source;
}

Result<Source> Source::of_tree(const FileTree& tree, const std::vector<std::string>& arguments) {
  Source source;
  source.base_ = tree;
  if (arguments.empty()) UDTCAT_CHECK(source.add({"."}, "", ""));
  for (const std::string& argument : arguments) {
    const std::string path = normal_path(argument);
    if (argument.starts_with('/') || !is_entry_path(path))
      return fail(Errc::stream_refused, fmt::format("send \"{}\"", core::printable(argument, kMaxReasonBytes)),
                  "paths are those below the directory that is served");
    const auto [parent, last] = split_last(path);
    if (means_content(last_word(argument))) {
      UDTCAT_CHECK(source.add({path, path != "."}, "", ""));
    } else if (argument.ends_with('/')) {
      UDTCAT_CHECK(source.add({path, true}, "", last));
    } else {
      UDTCAT_CHECK(source.add({parent}, last, last));
    }
  }
  UDTCAT_CHECK(source.refuse_names_in_content());
  return source;
}

Result<Source> Source::of_list(std::vector<std::string> names) {
  Source source;
  for (const char* parent : {".", "/"}) {
    UDTCAT_TRY(const std::size_t index, source.index_of({parent}));
    source.roots_.push_back({index, "", ""});
  }
  source.next_root_ = source.roots_.size();
  std::ranges::reverse(names);
  source.list_ = std::move(names);
  return source;
}

Status Source::add(Parent parent, std::string begin, std::string name) {
  UDTCAT_TRY(const std::size_t index, index_of(std::move(parent)));
  if (!names_.try_emplace(name, roots_.size()).second)
    return fail(Errc::bad_argument, fmt::format("send two files named \"{}\"", name.empty() ? "." : name),
                "they would have one place");
  roots_.push_back({index, std::move(begin), std::move(name)});
  return {};
}

Result<std::size_t> Source::index_of(Parent parent) {
  std::string key = parent.path + (parent.may_be_link ? "/" : "");
  if (const auto known = parent_indices_.find(key); known != parent_indices_.end()) return known->second;
  UDTCAT_TRY(auto tree, find(parent));
  UDTCAT_TRY(parent.status, tree.look());
  if (parents_.size() < kMaxKeptOpen) parent.tree = std::move(tree);
  parents_.push_back(std::move(parent));
  return parent_indices_[std::move(key)] = parents_.size() - 1;
}

/// No name in a directory whose content is sent is another argument's, unless it is the same file.
Status Source::refuse_names_in_content() {
  const auto content = names_.find("");
  if (content == names_.end() || names_.size() == 1) return {};
  for (const auto& [name, root] : names_) {
    if (name.empty()) continue;
    const auto in_content = look({content->second, name});
    if (!in_content) return tl::unexpected(in_content.error().error);
    if (!*in_content || is_anothers(root, (*in_content)->status)) continue;
    return fail(Errc::bad_argument, fmt::format("send two files named \"{}\"", name),
                fmt::format("{} is one, and they would have one place", (*in_content)->location.shown()));
  }
  return {};
}

/// Whether an argument is the file of this status.
bool Source::is_anothers(std::size_t root, const struct stat& status) {
  const auto own = look({root, roots_[root].begin});
  return own && *own && is_same_file((*own)->status, status);
}

Result<FileTree> Source::find(const Parent& parent) const {
  if (!base_) return FileTree::open(parent.path);
  if (parent.path == ".") return *base_;
  return parent.may_be_link ? base_->below_link(parent.path, Errc::local_read_failed)
                            : base_->below(parent.path, Errc::local_read_failed);
}

Result<FileTree> Source::enter(std::size_t index) const {
  const Parent& parent = parents_[index];
  if (parent.tree) return *parent.tree;
  UDTCAT_TRY(auto tree, find(parent));
  UDTCAT_TRY(const auto status, tree.look());
  if (is_same_file(status, parent.status)) return tree;
  return fail(Errc::local_read_failed, "open the directory " + parent.path, "it is another directory by now");
}

std::optional<NameResult<SourceItem>> Source::next() {
  if (auto item = next_of_walk()) return item;
  return next_of_list();
}

Status Source::begin_walk() {
  const Root& root = roots_[next_root_++];
  UDTCAT_TRY(auto tree, enter(root.parent));
  walk_.emplace(std::move(tree), root.begin);
  return {};
}

std::optional<NameResult<SourceItem>> Source::next_of_walk() {
  for (;;) {
    if (!walk_) {
      if (next_root_ == roots_.size()) return std::nullopt;
      if (auto begun = begin_walk(); !begun) return tl::unexpected(std::move(begun.error()));
    }
    auto visited = walk_->next();
    if (!visited) {
      walk_.reset();
      continue;
    }
    if (!*visited) return tl::unexpected(std::move(visited->error()));
    const SourceName source_name{next_root_ - 1, (*visited)->path};
    if (const auto other = other_of_name(source_name)) {
      walk_->pass_over();
      if (is_anothers(*other, (*visited)->status)) continue;
      return fail(Errc::local_read_failed, "send " + (*visited)->location.shown(),
                  "another path has this name, and they would have one place");
    }
    const Root& root = roots_[source_name.root];
    std::string path = root.name + (root.begin.empty() && !root.name.empty() && !source_name.path.empty() ? "/" : "") +
                       source_name.path.substr(root.begin.size());
    return SourceItem{path.empty() ? "." : std::move(path), source_name, std::move(**visited)};
  }
}

/// The argument that has the name of what was found in the directory of another.
std::optional<std::size_t> Source::other_of_name(const SourceName& source_name) const {
  if (!roots_[source_name.root].name.empty() || source_name.path.empty()) return std::nullopt;
  const auto other = names_.find(source_name.path);
  return other == names_.end() ? std::nullopt : std::optional(other->second);
}

std::optional<NameResult<SourceItem>> Source::next_of_list() {
  while (!list_.empty()) {
    const std::string name = list_.back();
    const std::string path = normal_path(name);
    if (!is_entry_path(path)) {
      list_.pop_back();
      return fail(Errc::local_read_failed, fmt::format("send \"{}\"", core::printable(name, kMaxReasonBytes)),
                  has_parts_name(path) ? kLeftByATransfer : "a path has no \"..\" in it, and at most 4096 bytes");
    }
    const std::size_t root = name.starts_with('/') ? kRootDirectory : kWorkingDirectory;
    const std::string next = first_unlisted(path);
    if (next == path) list_.pop_back();
    const auto [listed, is_new] = listed_.try_emplace(next, root);
    if (!is_new && listed->second == root) continue;  // it has come already
    if (!is_new)
      return fail(Errc::local_read_failed, "send \"" + core::printable(name, kMaxReasonBytes) + '"',
                  "the list has another of that name, from elsewhere");
    auto item = visit_listed(name, next, root);
    if (next == path || (item && S_ISDIR(item->visited.status.st_mode))) return item;
    // A directory above the name cannot be read, or is none: each listed name below it is missed by itself.
    listed_.erase(listed);
    const auto location = locate({root, path});
    if (item && location) continue;  // it has become a directory meanwhile
    list_.pop_back();
    const NameError& error = item ? location.error() : item.error();
    return fail(Errc::local_read_failed, "send " + core::printable(name, kMaxReasonBytes), error.error.cause);
  }
  return std::nullopt;
}

NameResult<SourceItem> Source::visit_listed(const std::string& name, const std::string& path, std::size_t root) {
  SourceName source_name{root, path == "." ? "" : path};
  if (name.ends_with('/') && path == normal_path(name)) {
    UDTCAT_TRY(source_name, directory_at(name, std::move(source_name)));
  }
  UDTCAT_TRY(auto visited, look(source_name));
  if (visited) return SourceItem{path, std::move(source_name), std::move(*visited)};
  return core::fail_by_errno(Errc::local_read_failed, "send " + (root == kRootDirectory ? "/" + path : path), ENOENT);
}

/// A listed name that ends in "/" is a directory, also where a symbolic link leads to it.
NameResult<SourceName> Source::directory_at(const std::string& name, SourceName source_name) {
  UDTCAT_TRY(const auto visited, look(source_name));
  if (visited && S_ISLNK(visited->status.st_mode)) {
    UDTCAT_TRY(const std::size_t index, index_of({name}));
    roots_.push_back({index, "", ""});
    next_root_ = roots_.size();
    return SourceName{roots_.size() - 1, ""};
  }
  if (!visited || S_ISDIR(visited->status.st_mode)) return source_name;
  return fail(Errc::local_read_failed, "send " + core::printable(name, kMaxReasonBytes), "it is not a directory");
}

/// The path, or the first of the directories that it is in that has not come: they come before it.
std::string Source::first_unlisted(const std::string& path) const {
  for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1))
    if (std::string parent = path.substr(0, at); !listed_.contains(parent)) return parent;
  return path;
}

NameResult<files::TreeCursor*> Source::cursor_of(const SourceName& source_name) {
  const std::size_t parent = roots_[source_name.root].parent;
  if (!cursor_ || cursor_parent_ != parent) {
    cursor_.reset();
    UDTCAT_TRY(auto tree, enter(parent));
    cursor_.emplace(std::move(tree));
    cursor_parent_ = parent;
  }
  return &*cursor_;
}

NameResult<files::FileLocation> Source::locate(const SourceName& source_name) {
  UDTCAT_TRY(auto* const cursor, cursor_of(source_name));
  return of_name(cursor->locate(source_name.path.empty() ? "." : source_name.path, Errc::local_read_failed));
}

NameResult<std::optional<Visited>> Source::look(const SourceName& source_name) {
  UDTCAT_TRY(auto location, locate(source_name));
  UDTCAT_TRY(const auto status, location.look());
  if (!status) return std::nullopt;
  return Visited{source_name.path, std::move(location), *status};
}

NameResult<bridge::Descriptor> Source::open(const SourceName& source_name) {
  UDTCAT_TRY(const auto location, locate(source_name));
  return location.open(O_RDONLY, Errc::local_read_failed);
}

}  // namespace udtcat::trees
