// SPDX-License-Identifier: Apache-2.0
#include "trees/written_names.hpp"

#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::trees {

ScopedStatus WriteBudget::charge(std::uint64_t bytes, const std::string& path) {
  const std::uint64_t now = charged_ += bytes;
  if (!bytes_ || now <= *bytes_) return {};
  return of_transfer(fail(Errc::stream_refused, "write " + path,
                          fmt::format("the transfer would be more than --limit {}", core::format_size(*bytes_))));
}

ScopedResult<files::DirectoryUse::Reservation> WriteBudget::charge_name(std::uint64_t attribute_bytes,
                                                                        const std::string& path) {
  UDTCAT_CHECK(charge(kNameBytes + attribute_bytes, path));
  return reserve(kNameBytes, path);
}

ScopedResult<files::DirectoryUse::Reservation> WriteBudget::reserve(std::uint64_t bytes, const std::string& path) {
  if (!directory_ || bytes == 0) return files::DirectoryUse::Reservation();
  return of_transfer(directory_->reserve(bytes, "write " + path));
}

Status WriteBudget::rename(const files::FileLocation& from, const files::FileLocation& to) {
  return rename_in(directory_ ? directory_->use : nullptr, from, to);
}

void WriteBudget::remove(const files::FileLocation& name) { remove_in(directory_ ? directory_->use : nullptr, name); }

files::DirectoryUse::OpenFile WriteBudget::open(const bridge::Descriptor& file) {
  if (!directory_) return {};
  return directory_->use->open(file);
}

void WriteBudget::release(std::uint64_t bytes, std::uint64_t since) {
  if (directory_) directory_->use->release(bytes, since);
}

void WrittenNames::add(const struct stat& status, std::string_view birth, const std::string& path) {
  placed_.add(status, birth);
  if (status.st_nlink > 1 && !S_ISDIR(status.st_mode)) several_.insert(std::hash<std::string>()(path));
}

bool WrittenNames::has(const struct stat& status, std::string_view birth, const std::string& path,
                       const std::function<bool()>& is_listed) const {
  if (!placed_.has(status, birth)) return false;
  if (status.st_nlink < 2 || S_ISDIR(status.st_mode)) return true;
  return several_.contains(std::hash<std::string>()(path)) || !is_listed();
}

void WrittenNames::refuse_below(const std::string& path) {
  if (refused_.size() < kMaxRefused) refused_.insert(path);
}

bool WrittenNames::is_below_refused(const std::string& path) const {
  if (refused_.empty()) return false;
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (refused_.contains(path.substr(0, slash))) return true;
  return false;
}

void WrittenNames::add_file_system(dev_t device, const bridge::Descriptor& directory) {
  const core::MutexLock lock(mutex_);
  auto& kept = file_systems_[device];
  if (kept && kept->is_open()) return;  // also by O_PATH, which syncfs(2) does not take
  kept =
      std::make_shared<const bridge::Descriptor>(::openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Status WrittenNames::sync(const std::string& shown) {
  std::vector<std::shared_ptr<const bridge::Descriptor>> directories;
  {
    const core::MutexLock lock(mutex_);
    for (const auto& [device, directory] : file_systems_) directories.push_back(directory);
  }
  for (const auto& directory : directories)
    if (::syncfs(directory->number()) != 0)
      return fail(Errc::local_write_failed, "store what was written to " + shown,
                  directory->is_open() ? core::errno_text(errno) : "no directory of its file system can be opened");
  return {};
}

void WrittenNames::lose(dev_t device, const std::string& shown, const Losses& losses) {
  for (const Loss& loss : losses) {
    {
      const core::MutexLock lock(mutex_);
      if (told_.size() == kMaxTold || !told_.emplace(device, loss.what).second) continue;
    }
    on_loss_(
        fmt::format("{}: its {} could not be kept: {}; others there may lack it, too", shown, loss.what, loss.cause));
  }
}

}  // namespace udtcat::trees
