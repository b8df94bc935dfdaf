// SPDX-License-Identifier: Apache-2.0
#include "files/directory_count.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "files/directory_reader.hpp"
#include "files/part_names.hpp"
#include "lib/bridge/descriptor.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr std::size_t kNamesAtOnce = 1'024;  // guess: milliseconds

/// Depth first, so that memory and descriptors are those of one way down.
class CountingWalk {
 public:
  CountingWalk(const FileTree& tree, const std::function<bool()>& is_wanted) : tree_(tree), is_wanted_(is_wanted) {}

  [[nodiscard]] Result<DirectoryCount> run() {
    UDTCAT_TRY(const auto top, tree_.enter("", Errc::local_read_failed));
    UDTCAT_CHECK(enter(top->number(), "."));
    while (!levels_.empty()) {
      if (++names_ % kNamesAtOnce == 0 && !is_wanted_()) return fail(Errc::interrupted, "count", "it is not wanted");
      UDTCAT_CHECK(step());
    }
    return count_;
  }

 private:
  struct Level {
    DirectoryReader reader;
    std::size_t above_bytes;  // of path_, without this directory
    bool is_of_parts;
  };

  [[nodiscard]] tl::unexpected<Error> cannot(const char* doing, const std::string& path, int error) const {
    return core::fail_by_errno(Errc::local_read_failed, fmt::format("{} {}", doing, shown(path)), error);
  }
  [[nodiscard]] std::string shown(const std::string& path) const {
    return core::printable(tree_.shown(path), core::kShownBytes);
  }
  [[nodiscard]] std::string path_of(const std::string& name) const { return path_.empty() ? name : path_ + '/' + name; }

  /// One that has gone since its name was read is no part of the tree any more, also where something else has the name.
  Status enter(int above, const std::string& name) {
    const bool is_top = levels_.empty();
    const std::string path = is_top ? name : path_of(name);
    if (levels_.size() >= kMaxCountedDepth)
      return fail(Errc::local_read_failed, "list " + shown(path),
                  fmt::format("directories are more than {} deep there", kMaxCountedDepth));
    bridge::Descriptor opened(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened.is_open() && !is_top && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return {};
    if (!opened.is_open()) return cannot("list", path, errno);
    Level level{DirectoryReader(std::move(opened)), path_.size(), false};
    level.is_of_parts = !is_top && (levels_.back().is_of_parts || name.starts_with(kPartsName));
    if (!is_top) path_ = path;
    levels_.push_back(std::move(level));
    return {};
  }

  Status step() {
    const auto found = levels_.back().reader.next();
    if (!found) return cannot("list", path_.empty() ? "." : path_, found.error());
    if (!*found) {
      path_.resize(levels_.back().above_bytes);
      levels_.pop_back();
      return {};
    }
    const std::string& name = **found;
    const int directory = levels_.back().reader.number();
    struct stat status {};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return errno == ENOENT ? Status() : cannot("look at", path_of(name), errno);
    add(status, name);
    return S_ISDIR(status.st_mode) ? enter(directory, name) : Status();
  }

  void add(const struct stat& status, const std::string& name) {
    std::uint64_t bytes = bytes_of(status);
    if (S_ISREG(status.st_mode) && status.st_nlink > 1 && is_new(status))
      bytes = sum_of(bytes, static_cast<std::uint64_t>(status.st_size));
    count_.bytes = sum_of(count_.bytes, bytes);
    if (!levels_.back().is_of_parts && !is_partial(status, name)) return;
    count_.part_bytes = sum_of(count_.part_bytes, bytes);
    if (S_ISREG(status.st_mode))
      count_.oldest_part = std::min(count_.oldest_part.value_or(status.st_mtime), status.st_mtime);
  }

  /// Once there are too many to remember each counts as often as it is seen: too much, and never too little.
  bool is_new(const struct stat& status) {
    const std::pair<dev_t, ino_t> file{status.st_dev, status.st_ino};
    if (linked_.size() >= kMaxCountedLinked) return !linked_.contains(file);
    return linked_.insert(file).second;
  }

  [[nodiscard]] bool is_partial(const struct stat& status, const std::string& name) const {
    const auto at = name.rfind(kPartialSuffix);
    if (at == std::string::npos || !S_ISREG(status.st_mode)) return false;
    const std::string_view rest = std::string_view(name).substr(at + std::string_view(kPartialSuffix).size());
    if (!rest.empty() && rest.front() != '~') return false;
    const int directory = levels_.back().reader.number();
    return ::faccessat(directory, (name + kJournalSuffix).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  }

  const FileTree& tree_;
  const std::function<bool()>& is_wanted_;
  DirectoryCount count_;
  std::vector<Level> levels_;
  std::string path_;  // of the last of these
  std::size_t names_ = 0;
  std::set<std::pair<dev_t, ino_t>> linked_;
};

}  // namespace

std::uint64_t sum_of(std::uint64_t one, std::uint64_t other) {
  return one > std::numeric_limits<std::uint64_t>::max() - other ? std::numeric_limits<std::uint64_t>::max()
                                                                 : one + other;
}

std::uint64_t bytes_of(const struct stat& status) {
  const bool is_last_name = S_ISREG(status.st_mode) && status.st_nlink < 2;
  return kNameBytes + (is_last_name ? static_cast<std::uint64_t>(status.st_size) : 0);
}

Result<DirectoryCount> count_directory(const FileTree& tree, const std::function<bool()>& is_wanted) {
  return CountingWalk(tree, is_wanted).run();
}

}  // namespace udtcat::files
