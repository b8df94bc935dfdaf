// SPDX-License-Identifier: Apache-2.0
#include "files/file_location.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "files/file_tree.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr mode_t kNewFileMode = 0666;       // spec: POSIX: the umask takes from it
constexpr std::size_t kMaxNameBytes = 255;  // spec: Linux NAME_MAX

/// FNV-1a: the same in every process. A collision does no harm, as a journal names its file by more than this.
std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t kBasis = 14'695'981'039'346'656'037U;  // spec: draft-eastlake-fnv
  constexpr std::uint64_t kPrime = 1'099'511'628'211U;           // spec: draft-eastlake-fnv
  std::uint64_t hash = kBasis;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * kPrime;
  return hash;
}

/// The name, shortened so that a hash of it and the suffix fit; no UTF-8 character is cut.
std::string with_room(const std::string& path, const std::string& suffix) {
  const auto slash = path.rfind('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const std::string_view name = std::string_view(path).substr(begin);
  if (name.size() + suffix.size() <= kMaxNameBytes || name.size() > kMaxNameBytes) return path + suffix;
  const std::string hash = fmt::format("~{:016x}", hash_of(name));
  std::size_t kept = kMaxNameBytes - hash.size() - suffix.size();
  while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xC0U) == 0x80U) --kept;
  return path.substr(0, begin + kept) + hash + suffix;
}

Result<std::string> target_at(int directory, const char* name, const std::string& shown) {
  std::string target(PATH_MAX, '\0');
  const ssize_t got = ::readlinkat(directory, name, target.data(), target.size());
  if (got < 0) return core::fail_by_errno(Errc::local_read_failed, "read the link " + shown);
  target.resize(static_cast<std::size_t>(got));
  return target;
}

std::optional<FileLocation::FileSystem> file_system_at(const bridge::Descriptor& directory) {
  struct stat status {};
  struct statfs system {};
  if (::fstat(directory.number(), &status) != 0 || ::fstatfs(directory.number(), &system) != 0) return std::nullopt;
  std::uint64_t id = 0;
  static_assert(sizeof system.f_fsid == sizeof id);
  std::memcpy(&id, &system.f_fsid, sizeof id);
  return FileLocation::FileSystem{static_cast<std::uint64_t>(system.f_type), id, mount_of(directory), status.st_dev};
}

/// Below the one that a name is relative to.
std::string directory_of(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? "." : name.substr(0, slash + 1);
}

std::string path_of(const bridge::Descriptor& descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor.number());
}

}  // namespace

MountNumber mount_of(const bridge::Descriptor& directory) {
  constexpr unsigned kMountIdUnique = 0x4000;  // spec: statx(2), STATX_MNT_ID_UNIQUE, which this libc has not
  struct statx status {};
  if (::statx(directory.number(), "", AT_EMPTY_PATH, kMountIdUnique | STATX_MNT_ID, &status) != 0) return {};
  return {status.stx_mnt_id, (status.stx_mask & kMountIdUnique) != 0};
}

FileLocation::FileLocation(std::string path) : name_(std::move(path)), shown_(name_) {}

FileLocation::FileLocation(std::shared_ptr<const bridge::Descriptor> directory, std::string name, std::string shown)
    : directory_(std::move(directory)), name_(std::move(name)), shown_(std::move(shown)) {}

FileLocation FileLocation::with_suffix(const std::string& suffix) const {
  FileLocation other = *this;
  other.name_ = with_room(name_, suffix);
  other.shown_ = with_room(shown_, suffix);
  return other;
}

int FileLocation::directory() const { return directory_ ? directory_->number() : AT_FDCWD; }

Result<bridge::Descriptor> FileLocation::open(int flags, Errc code) const {
  if (directory_) flags |= O_NOFOLLOW;
  bridge::Descriptor descriptor(::openat(directory(), name_.c_str(), flags | O_CLOEXEC | O_NONBLOCK, kNewFileMode));
  if (!descriptor.is_open()) return core::fail_by_errno(code, "open " + shown_);
  return descriptor;
}

Result<std::optional<struct stat>> FileLocation::look() const {
  struct stat status {};
  if (::fstatat(directory(), name_.c_str(), &status, directory_ ? AT_SYMLINK_NOFOLLOW : 0) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  return core::fail_by_errno(Errc::local_read_failed, "look at " + shown_);
}

Result<std::optional<struct stat>> FileLocation::look_at_name() const {
  struct stat status {};
  if (::fstatat(directory(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  return core::fail_by_errno(Errc::local_read_failed, "look at " + shown_);
}

bool FileLocation::is_only_name() const {
  const auto status = look_at_name();
  return status && *status && S_ISREG((*status)->st_mode) && (*status)->st_nlink <= 1;
}

Result<std::optional<bridge::Descriptor>> FileLocation::make_file(int flags) const {
  constexpr int kNewOnly = O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  bridge::Descriptor made(::openat(directory(), name_.c_str(), flags | kNewOnly, kNewFileMode));
  if (made.is_open()) return made;
  if (errno == EEXIST) return std::nullopt;
  return core::fail_by_errno(Errc::local_write_failed, "make " + shown_);
}

std::optional<bridge::Descriptor> FileLocation::make_nameless_file(int flags) const {
  bridge::Descriptor made(
      ::openat(directory(), directory_of(name_).c_str(), flags | O_TMPFILE | O_CLOEXEC, kNewFileMode));
  if (!made.is_open() || ::access(path_of(made).c_str(), F_OK) != 0) return std::nullopt;
  return made;
}

Status FileLocation::take_name(const bridge::Descriptor& nameless) const {
  return made(::linkat(AT_FDCWD, path_of(nameless).c_str(), directory(), name_.c_str(), AT_SYMLINK_FOLLOW));
}

bool FileLocation::ignores_case() const {
  constexpr char kOtherCase = 0x20;  // spec: ASCII
  const auto is_letter = [](char each) { return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z'); };
  // At random: of a spelling that was asked for before, the kernel may remember what stood there then.
  std::random_device random;
  std::string other = name_;
  for (std::size_t at = other.rfind('/') + 1; at < other.size(); ++at)
    if (is_letter(other[at]) && random() % 2 != 0) other[at] = static_cast<char>(other[at] ^ kOtherCase);
  struct stat there {};
  if (other == name_ || ::fstatat(directory(), other.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) return false;
  FileLocation spelling = *this;
  spelling.name_ = other;
  return !spelling.is_listed();  // else that is another file's name
}

std::optional<struct statx> FileLocation::look_by(unsigned mask) const {
  struct statx status {};
  if (::statx(directory(), name_.c_str(), AT_SYMLINK_NOFOLLOW, mask, &status) != 0) return std::nullopt;
  return status;
}

std::string FileLocation::birth() const {
  const auto status = look_by(STATX_BTIME);
  if (!status || (status->stx_mask & STATX_BTIME) == 0) return "";
  return fmt::format("{}.{:09}", status->stx_btime.tv_sec, status->stx_btime.tv_nsec);
}

std::optional<FileLocation::FileSystem> FileLocation::file_system_of(const struct stat& status) const {
  // Cached for the last directory: callers go through one directory at a time.
  thread_local std::weak_ptr<const bridge::Descriptor> last;
  thread_local std::optional<FileSystem> known;
  if (!directory_) return std::nullopt;
  if (last.lock() != directory_) {
    known = file_system_at(*directory_);
    last = directory_;
  }
  return known && known->device == status.st_dev ? known : std::nullopt;
}

std::optional<std::vector<std::string>> FileLocation::names_beside() const {
  return names_in(bridge::Descriptor(::openat(directory(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

bool FileLocation::is_listed() const {
  const auto names = names_beside();
  return !names || std::ranges::binary_search(*names, name_);  // who may not list it is not to be stopped by that
}

bool FileLocation::exists() const { return ::faccessat(directory(), name_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0; }

bool FileLocation::is_directory() const {
  struct stat status {};
  return ::fstatat(directory(), name_.c_str(), &status, 0) == 0 && S_ISDIR(status.st_mode);
}

bool FileLocation::is_special() const {
  struct stat status {};
  return ::fstatat(directory(), name_.c_str(), &status, directory_ ? AT_SYMLINK_NOFOLLOW : 0) == 0 &&
         !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

std::optional<std::uint64_t> FileLocation::size() const {
  struct stat status {};
  if (::fstatat(directory(), name_.c_str(), &status, 0) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

bool FileLocation::leads_to(const bridge::Descriptor& descriptor) const {
  struct stat here {};
  struct stat open {};
  return ::fstatat(directory(), name_.c_str(), &here, 0) == 0 && ::fstat(descriptor.number(), &open) == 0 &&
         here.st_dev == open.st_dev && here.st_ino == open.st_ino;
}

bool FileLocation::names(const bridge::Descriptor& descriptor) const {
  const auto status = look_at_name();
  return status && *status && !S_ISLNK((*status)->st_mode) && leads_to(descriptor);
}

Status FileLocation::rename_to(const FileLocation& to) const {
  if (::renameat(directory(), name_.c_str(), to.directory(), to.name_.c_str()) == 0) return {};
  if (shown_ == to.shown_) return core::fail_by_errno(Errc::local_write_failed, "put in place " + shown_);
  return core::fail_by_errno(Errc::local_write_failed, "rename " + shown_ + " to " + to.shown_);
}

std::string FileLocation::path_by_descriptor() const {
  return directory_ ? fmt::format("/proc/self/fd/{}/{}", directory_->number(), name_) : name_;
}

Status FileLocation::sync_name() const {
  if (const auto error = bridge::sync_names(directory(), directory_of(name_).c_str()))
    return fail(Errc::local_write_failed, "store the name " + shown_, core::errno_text(error.value()));
  return {};
}

Result<std::string> FileLocation::read_target() const { return target_at(directory(), name_.c_str(), shown_); }

Result<std::string> read_target_of(const bridge::Descriptor& link, const std::string& shown) {
  return target_at(link.number(), "", shown);
}

Status FileLocation::made(int result) const {
  if (result == 0) return {};
  return core::fail_by_errno(Errc::local_write_failed, "make " + shown_);
}

Status FileLocation::make_directory(mode_t mode) const { return made(::mkdirat(directory(), name_.c_str(), mode)); }

Status FileLocation::make_symbolic_link(const std::string& target) const {
  return made(::symlinkat(target.c_str(), directory(), name_.c_str()));
}

Status FileLocation::make_hard_link(const FileLocation& of) const {
  return made(::linkat(of.directory(), of.name_.c_str(), directory(), name_.c_str(), 0));
}

Status FileLocation::make_node(mode_t mode, dev_t device) const {
  return made(::mknodat(directory(), name_.c_str(), mode, device));
}

void FileLocation::remove() const { std::ignore = ::unlinkat(directory(), name_.c_str(), 0); }

}  // namespace udtcat::files
