// SPDX-License-Identifier: Apache-2.0
#include "trees/top_directory.hpp"

#include <cstddef>
#include <map>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/core/mutex.hpp"
#include "lib/core/try.hpp"
#include "trees/disk/accounts.hpp"
#include "trees/disk/attributes.hpp"
#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

namespace {

/// Directories that transfers of this process have made writable, by device and inode: the last one restores the mode.
struct SharedMode {
  std::size_t transfers = 0;
  std::uint32_t mode = 0;  // to be restored
};
core::Mutex shared_modes_mutex;
std::map<std::pair<dev_t, ino_t>, SharedMode> shared_modes UDTCAT_GUARDED_BY(shared_modes_mutex);

std::uint32_t mode_of(const struct stat& status) { return status.st_mode & kModeBits; }

}  // namespace

Result<TopDirectory> TopDirectory::open(const files::FileTree& tree) {
  UDTCAT_TRY(auto directory, tree.enter("", Errc::local_write_failed));
  TopDirectory top(std::move(directory));
  const int number = top.directory_->number();
  struct stat status {};
  if (::fstat(number, &status) != 0) return top;  // the first write reports it
  const core::MutexLock lock(shared_modes_mutex);
  const auto known = shared_modes.find({status.st_dev, status.st_ino});
  const bool is_read_only = ::faccessat(number, ".", W_OK | X_OK, AT_EACCESS) != 0 && status.st_uid == ::geteuid() &&
                            (status.st_mode & S_IRWXU) != S_IRWXU;
  if (known == shared_modes.end() && !is_read_only) return top;
  if (is_read_only) UDTCAT_CHECK(set_mode(*top.directory_, mode_of(status) | S_IRWXU, tree.shown(".")));
  SharedMode& mine = shared_modes[{status.st_dev, status.st_ino}];
  if (mine.transfers++ == 0) mine.mode = mode_of(status);
  top.file_ = {status.st_dev, status.st_ino};
  return top;
}

TopDirectory::~TopDirectory() {
  if (!directory_ || !file_) return;
  const core::MutexLock lock(shared_modes_mutex);
  const auto mine = shared_modes.find(*file_);
  if (mine == shared_modes.end() || --mine->second.transfers > 0) return;
  const std::uint32_t mode = mine->second.mode;
  shared_modes.erase(mine);
  struct stat status {};
  const bool is_as_we_made_it = ::fstat(directory_->number(), &status) == 0 && mode_of(status) == (mode | S_IRWXU);
  if (is_as_we_made_it) std::ignore = set_mode(*directory_, mode, "");  // nobody is left to hear of it
}

void TopDirectory::keep_mode(std::uint32_t mode) {
  if (!file_) return;
  const core::MutexLock lock(shared_modes_mutex);
  const auto mine = shared_modes.find(*file_);
  if (mine != shared_modes.end()) mine->second.mode = mode;
}

std::optional<std::uint32_t> TopDirectory::own_mode(const std::optional<std::string>& home) const {
  struct stat status {};
  if (::fstat(directory_->number(), &status) != 0) return std::nullopt;
  const auto is_at = [&](const char* path) {
    struct stat there {};
    return ::stat(path, &there) == 0 && is_same_file(status, there);
  };
  if (!is_at("/") && !is_home(status) && !(home && is_at(home->c_str()))) return std::nullopt;
  if (!file_) return mode_of(status);
  const core::MutexLock lock(shared_modes_mutex);
  const auto mine = shared_modes.find(*file_);
  return mine != shared_modes.end() ? mine->second.mode : mode_of(status);
}

}  // namespace udtcat::trees
