// SPDX-License-Identifier: Apache-2.0
#include "trees/placement.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "lib/core/user_text.hpp"

namespace udtcat::trees {

Status Limit::charge(std::uint64_t bytes, const std::string& path) {
  const std::uint64_t now = charged_ += bytes;
  if (!bytes_ || now <= *bytes_) return {};
  return fail(Errc::stream_refused, "write " + path,
              fmt::format("the transfer would be more than --limit {}", core::format_size(*bytes_)));
}

void Placement::add(const struct stat& status, const std::string& path) {
  placed_.add(status);
  if (status.st_nlink > 1 && !S_ISDIR(status.st_mode)) several_.insert(std::hash<std::string>()(path));
}

bool Placement::has(const struct stat& status, const std::string& path, const std::function<bool()>& is_listed) const {
  if (!placed_.has(status)) return false;
  if (status.st_nlink < 2 || S_ISDIR(status.st_mode)) return true;
  return several_.contains(std::hash<std::string>()(path)) || !is_listed();
}

void Placement::add_file_system(dev_t device, const bridge::Descriptor& directory) {
  const core::MutexLock lock(mutex_);
  bridge::Descriptor& kept = file_systems_[device];
  if (!kept.is_open())  // also by O_PATH, which syncfs(2) does not take
    kept = bridge::Descriptor(::openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Status Placement::sync(const std::string& shown) {
  const core::MutexLock lock(mutex_);
  for (const auto& [device, directory] : file_systems_)
    if (::syncfs(directory.number()) != 0)
      return fail(Errc::local_write_failed, "store what was written to " + shown,
                  directory.is_open() ? core::errno_text(errno) : "no directory of its file system can be opened");
  return {};
}

void Placement::lose(dev_t device, const std::string& shown, const files::Losses& losses) {
  for (const files::Loss& loss : losses) {
    {
      const core::MutexLock lock(mutex_);
      if (told_.size() == kMaxTold || !told_.emplace(device, loss.what).second) continue;
    }
    on_loss_(
        fmt::format("{}: its {} could not be kept: {}; others there may lack it, too", shown, loss.what, loss.cause));
  }
}

}  // namespace udtcat::trees
