// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/tree_walk.hpp"

#include <cerrno>
#include <utility>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/entry_path.hpp"

namespace udtcat::trees {

std::optional<NameResult<Visited>> TreeWalk::next() {
  if (begin_) {
    const std::string begin = *std::exchange(begin_, std::nullopt);
    auto visited = visit(begin);
    if (visited) return visited;
    return core::fail_by_errno(Errc::local_read_failed, "send " + cursor_.tree().shown(begin), ENOENT);
  }
  if (const auto directory = std::exchange(to_descend_, std::nullopt))
    if (auto entered = descend(*directory); !entered) return tl::unexpected(std::move(entered.error()));
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.names.empty()) {
      levels_.pop_back();
      continue;
    }
    const std::string name = std::move(level.names.back());
    level.names.pop_back();
    // A name that has gone since its directory was read is no part of the tree any more.
    if (auto visited = visit(level.path.empty() ? name : level.path + '/' + name)) return visited;
  }
  return std::nullopt;
}

/// None: nothing is there.
std::optional<NameResult<Visited>> TreeWalk::visit(const std::string& path) {
  auto location = cursor_.locate(path.empty() ? "." : path, Errc::local_read_failed);
  if (!location) return tl::unexpected(std::move(location.error()));
  auto status = location->look();
  if (!status) return tl::unexpected(std::move(status.error()));
  if (!*status) return std::nullopt;
  if (S_ISDIR((*status)->st_mode) && !has_parts_name(path)) to_descend_ = Directory{path, **status};
  return Visited{path, std::move(*location), **status};
}

NameStatus TreeWalk::descend(const Directory& directory) {
  UDTCAT_TRY(auto names, cursor_.tree().names(directory.path, &directory.status));
  levels_.push_back({directory.path, {std::make_move_iterator(names.rbegin()), std::make_move_iterator(names.rend())}});
  return {};
}

}  // namespace udtcat::trees
