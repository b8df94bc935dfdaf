// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_place.hpp"

#include <cerrno>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/bridge/unix_socket.hpp"
#include "lib/core/text.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/process_setup.hpp"

namespace udtcat::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char* kStatusSuffix = ".sock";
constexpr std::string_view kEverybodysPrefix = "udtcat-";  // and a user's number

constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;
constexpr mode_t kOpenToOthers = S_IRWXG | S_IRWXO;

struct StatusDirectory {
  std::string path;
  mode_t mode = S_IRWXU;
  mode_t denied = kWritableByOthers;
};

bool is_alone(const std::string& directory, uid_t user, mode_t denied) {
  struct stat about {};
  return ::lstat(directory.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == user &&
         (about.st_mode & denied) == 0;
}

bool is_ours_alone(const std::string& directory) { return is_alone(directory, ::geteuid(), kWritableByOthers); }

StatusDirectory own_directory(const StatusRoots& roots) {
  // spec: systemd.exec(5): several are separated by colons
  if (const auto given = environment("RUNTIME_DIRECTORY")) return {given->substr(0, given->find(':'))};
  if (const auto users = environment("XDG_RUNTIME_DIR"); users && users->starts_with('/') && is_ours_alone(*users))
    return {*users + "/udtcat"};
  // Services of other users have directories of their own in it.
  if (::geteuid() == 0) return {roots.services, S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH};
  if (const std::string own = fmt::format("{}/{}", roots.users, ::geteuid()); is_ours_alone(own))
    return {own + "/udtcat"};
  return {fmt::format("{}/{}{}", roots.everybody, kEverybodysPrefix, ::geteuid()), S_IRWXU, kOpenToOthers};
}

/// Whether `directory` is one that own_directory() gives a user in /tmp, and its sockets are for us.
bool is_for_us(const fs::path& directory) {
  const std::string name = directory.filename();
  if (!name.starts_with(kEverybodysPrefix)) return false;
  const auto user = core::parse_number<uid_t>(std::string_view(name).substr(kEverybodysPrefix.size()));
  return user && (::geteuid() == 0 || ::geteuid() == *user) && is_alone(directory, *user, kOpenToOthers);
}

/// The sockets in a directory of one user.
void add_sockets(const fs::path& directory, std::set<std::string>& found) {
  std::size_t left = kMaxSocketsOfDirectory;
  std::error_code unreadable;
  for (fs::directory_iterator entry(directory, unreadable), none; !unreadable && entry != none;
       entry.increment(unreadable)) {
    std::error_code gone;
    if (entry->path().extension() != kStatusSuffix || !entry->is_socket(gone)) continue;
    if (left == 0 || found.size() >= kMaxStatusSockets) return;
    if (found.insert(entry->path()).second) --left;
  }
}

/// Those of root's own processes, and in the directories of services below.
void add_sockets_of_services(const fs::path& directory, std::set<std::string>& found) {
  add_sockets(directory, found);
  std::error_code unreadable;
  for (fs::directory_iterator entry(directory, unreadable), none; !unreadable && entry != none;
       entry.increment(unreadable)) {
    std::error_code gone;
    if (entry->is_directory(gone)) add_sockets(entry->path(), found);
  }
}

}  // namespace

Result<std::string> own_status_socket(const StatusRoots& roots) {
  const StatusDirectory directory = own_directory(roots);
  // It may be there, and has to be ours then.
  const int failure = ::mkdir(directory.path.c_str(), directory.mode) == 0 ? EEXIST : errno;
  if (!is_alone(directory.path, ::geteuid(), directory.denied))
    return fail(Errc::cannot_bind, "make " + directory.path,
                failure != EEXIST ? core::errno_text(failure) : "it is there, and not this user's alone");
  return fmt::format("{}/{}{}", directory.path, ::getpid(), kStatusSuffix);
}

std::optional<std::string> directory_closed_to(const std::string& path, gid_t group) {
  std::string closed;
  for (fs::path directory = fs::path(path).parent_path(); !directory.empty(); directory = directory.parent_path()) {
    struct stat about {};
    const bool is_known = ::stat(directory.c_str(), &about) == 0;
    const mode_t needed = about.st_gid == group ? S_IXGRP : S_IXOTH;
    if (!is_known || (about.st_mode & needed) == 0) closed = directory;
    if (directory == directory.parent_path()) break;
  }
  return closed.empty() ? std::nullopt : std::optional(closed);
}

std::vector<std::string> status_sockets(const StatusRoots& roots) {
  std::set<std::string> found;  // a directory may be named twice
  add_sockets_of_services(roots.services, found);
  if (const auto users = environment("XDG_RUNTIME_DIR")) add_sockets(*users + "/udtcat", found);
  std::error_code unreadable;
  for (fs::directory_iterator user(roots.users, unreadable), none; !unreadable && user != none;
       user.increment(unreadable))
    add_sockets(user->path() / "udtcat", found);
  for (fs::directory_iterator entry(roots.everybody, unreadable), none; !unreadable && entry != none;
       entry.increment(unreadable))
    if (is_for_us(entry->path())) add_sockets(entry->path(), found);
  return {found.begin(), found.end()};
}

bool is_place_of_services(const std::string& path, const StatusRoots& roots) {
  struct stat about {};
  return path.starts_with(roots.services + '/') || (::lstat(path.c_str(), &about) == 0 && about.st_uid == ::geteuid());
}

bool remove_left_over(const std::string& path) {
  // In a directory of somebody else's the path may lead elsewhere by the time that it is removed.
  if (!is_ours_alone(fs::path(path).parent_path()) || !bridge::is_left_over(path)) return false;
  return ::unlink(path.c_str()) == 0;
}

}  // namespace udtcat::tool
