// SPDX-License-Identifier: Apache-2.0
#include "tool/status_place.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/bridge/unix_socket.hpp"
#include "tool/process_setup.hpp"

namespace udtcat::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char* kRunDirectory = "/run/udtcat";  // spec: FHS 3.0, /run
constexpr const char* kUsersDirectory = "/run/user";  // spec: pam_systemd(8), XDG_RUNTIME_DIR
constexpr const char* kStatusSuffix = ".sock";

constexpr std::size_t kMaxSockets = 256;  // guess: far more than a host runs

struct StatusDirectory {
  std::string path;
  mode_t mode;
};

bool is_ours_alone(const std::string& directory) {
  struct stat about {};
  return ::lstat(directory.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() &&
         (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<StatusDirectory> own_directory() {
  // spec: systemd.exec(5): several are separated by colons
  if (const auto given = environment("RUNTIME_DIRECTORY"))
    return StatusDirectory{given->substr(0, given->find(':')), S_IRWXU};
  if (const auto users = environment("XDG_RUNTIME_DIR"); users && users->starts_with('/') && is_ours_alone(*users))
    return StatusDirectory{*users + "/udtcat", S_IRWXU};
  // Services of other users have directories of their own in it.
  if (::geteuid() == 0) return StatusDirectory{kRunDirectory, S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH};
  return std::nullopt;
}

/// The sockets in a directory and, where asked, one level below.
void add_sockets(const fs::path& directory, bool below, std::vector<std::string>& found) {
  std::error_code unreadable;
  for (fs::directory_iterator entry(directory, unreadable), none; !unreadable && entry != none;
       entry.increment(unreadable)) {
    if (found.size() >= kMaxSockets) return;
    std::error_code gone;
    if (below && entry->is_directory(gone)) add_sockets(entry->path(), false, found);
    if (entry->path().extension() == kStatusSuffix && entry->is_socket(gone)) found.push_back(entry->path());
  }
}

}  // namespace

std::optional<std::string> own_status_socket() {
  const auto directory = own_directory();
  if (!directory) return std::nullopt;
  std::ignore = ::mkdir(directory->path.c_str(), directory->mode);  // it may be there, and has to be ours then
  if (!is_ours_alone(directory->path)) return std::nullopt;
  return fmt::format("{}/{}{}", directory->path, ::getpid(), kStatusSuffix);
}

std::vector<std::string> status_sockets() {
  std::vector<std::string> found;
  add_sockets(kRunDirectory, true, found);
  if (const auto users = environment("XDG_RUNTIME_DIR")) add_sockets(*users + "/udtcat", false, found);
  std::error_code unreadable;
  for (fs::directory_iterator user(kUsersDirectory, unreadable), none; !unreadable && user != none;
       user.increment(unreadable))
    add_sockets(user->path() / "udtcat", false, found);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool remove_left_over(const std::string& path) {
  // In a directory of somebody else's the path may lead elsewhere by the time that it is removed.
  if (!is_ours_alone(fs::path(path).parent_path()) || !bridge::is_left_over(path)) return false;
  std::ignore = ::unlink(path.c_str());  // it may not be ours to remove
  return true;
}

}  // namespace udtcat::tool
