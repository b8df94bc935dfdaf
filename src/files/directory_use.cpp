// SPDX-License-Identifier: Apache-2.0
#include "files/directory_use.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

std::uint64_t DirectoryUse::bytes_of(const struct stat& status) {
  const bool is_last_name = S_ISREG(status.st_mode) && status.st_nlink < 2;
  return kNameBytes + (is_last_name ? static_cast<std::uint64_t>(status.st_size) : 0);
}

Result<std::uint64_t> DirectoryUse::walk() const {
  std::uint64_t bytes = 0;
  std::set<std::pair<dev_t, ino_t>> linked;  // files with several names count once
  TreeCursor cursor(tree_);
  for (std::vector<std::string> directories{""}; !directories.empty();) {
    const std::string directory = std::move(directories.back());
    directories.pop_back();
    const auto names = tree_.names(directory);
    // One that has gone since its name was read is no part of the tree any more.
    if (!names && names.error().errno_value == ENOENT) continue;
    if (!names) return tl::unexpected(names.error());
    for (const std::string& name : *names) {
      const std::string path = directory.empty() ? name : directory + '/' + name;
      const auto location = cursor.locate(path, Errc::local_read_failed);
      if (!location && location.error().errno_value == ENOENT) break;
      if (!location) return tl::unexpected(location.error());
      UDTCAT_TRY(const auto status, location->look());
      if (!status) continue;
      if (S_ISDIR(status->st_mode)) directories.push_back(path);
      bytes += bytes_of(*status);
      const bool has_others = S_ISREG(status->st_mode) && status->st_nlink > 1;
      if (has_others && linked.insert({status->st_dev, status->st_ino}).second)
        bytes += static_cast<std::uint64_t>(status->st_size);
    }
  }
  return bytes;
}

void DirectoryUse::begin_count() {
  is_counting_ = true;
  unseen_ = growing_;
}

/// Others write and are refused meanwhile.
Status DirectoryUse::finish_count() {
  const auto counted = walk();
  const core::MutexLock lock(mutex_);
  is_counting_ = false;
  counted_.notify_all();
  if (!counted) return fail(Errc::local_read_failed, "count what is in " + tree_.shown("."), counted.error().message());
  used_ = *counted + unseen_;
  is_counted_ = true;
  counted_at_ = Clock::now();
  return {};
}

Status DirectoryUse::count(CountWait otherwise) {
  {
    const core::MutexLock lock(mutex_);
    if (is_counting_ && otherwise == CountWait::fails)
      return fail(Errc::out_of_resources, "count what is in " + tree_.shown("."),
                  "another session of the peer is at it; try again later");
    while (is_counting_) counted_.wait(mutex_);
    if (is_counted_) return {};
    begin_count();
  }
  return finish_count();
}

tl::unexpected<Error> DirectoryUse::refused(std::uint64_t limit_bytes, const std::string& what,
                                            const std::string& peer) {
  return tl::unexpected(Error{Errc::stream_refused, what,
                              fmt::format("{} may have {} here at most (limit=), and has {}", peer,
                                          core::format_size(limit_bytes), core::format_size(used_)),
                              EDQUOT});
}

Result<DirectoryUse::Growth> DirectoryUse::grow(std::uint64_t bytes, std::uint64_t limit_bytes, const std::string& what,
                                                const std::string& peer) {
  for (bool is_first = true;; is_first = false) {
    {
      const core::MutexLock lock(mutex_);
      if (bytes <= limit_bytes && used_ <= limit_bytes - bytes) {
        used_ += bytes;
        growing_ += bytes;
        if (is_counting_) unseen_ += bytes;
        return Growth(shared_from_this(), bytes);
      }
      const bool is_fresh = Clock::now() - counted_at_ < kCountsAgainAfter;
      if (!is_first || is_counting_ || is_fresh) return refused(limit_bytes, what, peer);
      begin_count();
    }
    UDTCAT_CHECK(finish_count());
  }
}

void DirectoryUse::shrink(std::uint64_t bytes) {
  const core::MutexLock lock(mutex_);
  used_ -= std::min(used_, bytes);
}

void DirectoryUse::arrive(std::uint64_t bytes) {
  const core::MutexLock lock(mutex_);
  growing_ -= bytes;
}

Result<std::shared_ptr<DirectoryUse>> DirectoryUses::open(const FileTree& tree, DirectoryUse::CountWait otherwise) {
  UDTCAT_TRY(const struct stat status, tree.look());
  std::shared_ptr<DirectoryUse> use;
  {
    const core::MutexLock lock(mutex_);
    std::erase_if(uses_, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<DirectoryUse>& known = uses_[{status.st_dev, status.st_ino}];
    use = known.lock();
    if (!use) known = use = std::make_shared<DirectoryUse>(tree);
  }
  UDTCAT_CHECK(use->count(otherwise));
  return use;
}

}  // namespace udtcat::files
