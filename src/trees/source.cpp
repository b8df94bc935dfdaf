// SPDX-License-Identifier: Apache-2.0
#include "trees/source.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "files/entry_path.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

namespace {

using files::FileTree;

// The roots of a list, in their order.
constexpr std::size_t kHere = 0;
constexpr std::size_t kTop = 1;

/// "a/b//": "a" and "b"; "b": "." and "b"; "/b": "/" and "b".
std::pair<std::string, std::string> split_last(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// "./a//b/": "a/b", as an entry has it.
std::string without_idle_words(const std::string& path) {
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
    const auto [above, last] = split_last(argument);
    UDTCAT_TRY(auto tree, FileTree::open(means_content(last) ? argument : above));
    UDTCAT_CHECK(source.add(std::move(tree), means_content(last) ? "" : last));
  }
  return source;
}

Result<Source> Source::of_tree(const FileTree& tree, const std::vector<std::string>& arguments) {
  Source source;
  if (arguments.empty()) UDTCAT_CHECK(source.add(tree, ""));
  for (const std::string& argument : arguments) {
    const std::string path = without_idle_words(argument);
    if (argument.starts_with('/') || !files::is_entry_path(path))
      return fail(Errc::stream_refused, fmt::format("send \"{}\"", core::printable(argument, kMaxReasonBytes)),
                  "paths are those below the directory that is served");
    if (path == ".") {
      UDTCAT_CHECK(source.add(tree, ""));
      continue;
    }
    const auto [above, last] = split_last(path);
    UDTCAT_TRY(auto below, above == "." ? Result<FileTree>(tree) : tree.below(above, Errc::local_read_failed));
    UDTCAT_CHECK(source.add(std::move(below), last));
  }
  return source;
}

Result<Source> Source::of_list(std::vector<std::string> names) {
  Source source;
  UDTCAT_TRY(auto here, FileTree::open("."));
  UDTCAT_TRY(auto top, FileTree::open("/"));
  source.roots_.push_back({std::move(here), ""});
  source.roots_.push_back({std::move(top), ""});
  source.next_root_ = source.roots_.size();
  std::ranges::reverse(names);
  source.list_ = std::move(names);
  return source;
}

Status Source::add(FileTree tree, std::string begin) {
  const bool is_there_twice = std::ranges::any_of(roots_, [&](const Root& root) { return root.begin == begin; });
  if (is_there_twice)
    return fail(Errc::bad_argument, fmt::format("send two files named \"{}\"", begin.empty() ? "." : begin),
                "they would have one place");
  roots_.push_back({std::move(tree), std::move(begin)});
  return {};
}

std::optional<Result<SourceItem>> Source::next() {
  if (auto item = next_of_walk()) return item;
  return next_of_list();
}

std::optional<Result<SourceItem>> Source::next_of_walk() {
  for (;;) {
    if (!walk_) {
      if (next_root_ == roots_.size()) return std::nullopt;
      walk_.emplace(roots_[next_root_].tree, roots_[next_root_].begin);
      ++next_root_;
    }
    auto visited = walk_->next();
    if (!visited) {
      walk_.reset();
      continue;
    }
    if (!*visited) return tl::unexpected(std::move(visited->error()));
    const Place place{next_root_ - 1, (*visited)->path};
    return SourceItem{place.path.empty() ? "." : place.path, place, std::move(**visited)};
  }
}

std::optional<Result<SourceItem>> Source::next_of_list() {
  while (!list_.empty()) {
    const std::string name = list_.back();
    const std::string path = without_idle_words(name);
    if (!files::is_entry_path(path)) {
      list_.pop_back();
      return fail(Errc::local_read_failed, fmt::format("send \"{}\"", core::printable(name, kMaxReasonBytes)),
                  "a path has no \"..\" in it, and at most 4096 bytes");
    }
    const std::size_t root = name.starts_with('/') ? kTop : kHere;
    const std::string next = first_unlisted(path);
    if (next == path) list_.pop_back();
    const auto [listed, is_new] = listed_.try_emplace(next, root);
    if (!is_new && listed->second == root) continue;  // it has come already
    if (!is_new)
      return fail(Errc::local_read_failed, "send " + roots_[root].tree.shown(next),
                  "the list has another of that name, from elsewhere");
    const Place place{root, next == "." ? "" : next};
    auto visited = look(place);
    if (!visited) return tl::unexpected(std::move(visited.error()));
    if (!*visited)
      return fail(Errc::local_read_failed, "look at " + roots_[place.root].tree.shown(next), "it is not there");
    return SourceItem{next, place, std::move(**visited)};
  }
  return std::nullopt;
}

/// The path, or the first of the directories that it is in that has not come: they come before it.
std::string Source::first_unlisted(const std::string& path) const {
  for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1))
    if (std::string above = path.substr(0, at); !listed_.contains(above)) return above;
  return path;
}

files::TreeCursor& Source::cursor_of(const Place& place) {
  if (!cursor_ || cursor_root_ != place.root) {
    cursor_.emplace(roots_[place.root].tree);
    cursor_root_ = place.root;
  }
  return *cursor_;
}

Result<std::optional<files::Visited>> Source::look(const Place& place) {
  UDTCAT_TRY(auto location, cursor_of(place).locate(place.path.empty() ? "." : place.path, Errc::local_read_failed));
  UDTCAT_TRY(const auto status, location.look());
  if (!status) return std::nullopt;
  return files::Visited{place.path, std::move(location), *status};
}

Result<bridge::Descriptor> Source::open(const Place& place) {
  UDTCAT_TRY(const auto location, cursor_of(place).locate(place.path, Errc::local_read_failed));
  return location.open(O_RDONLY, Errc::local_read_failed);
}

}  // namespace udtcat::trees
