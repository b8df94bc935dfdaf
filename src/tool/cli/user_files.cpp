// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/user_files.hpp"

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <tuple>

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <udtcat/units.hpp>

#include "lib/bridge/descriptor.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/process_setup.hpp"

namespace udtcat::tool {

namespace {

using bridge::Descriptor;

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

tl::unexpected<Error> not_written(const std::filesystem::path& file, int error) {
  return fail(Errc::local_write_failed, "write " + file.string(), core::errno_text(error));
}

Status write_all(const Descriptor& to, const std::filesystem::path& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return not_written(file, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(to.number()) != 0) return not_written(file, errno);
  return {};
}

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// Puts the name of a new file on the disk.
Status sync_name(const std::filesystem::path& file) {
  if (const auto error = bridge::sync_names(AT_FDCWD, directory_of(file).c_str()))
    return not_written(file, error.value());
  return {};
}

tl::unexpected<Error> there_already(const std::filesystem::path& file) {
  return fail(Errc::bad_argument, "write " + file.string(),
              "it is there already, and is not overwritten: give another name, or move it away");
}

/// False, too, where that cannot be seen: an empty line does no harm.
bool ends_a_line(const Descriptor& file) {
  struct stat about {};
  char last = '\n';
  if (::fstat(file.number(), &about) == 0 && about.st_size == 0) return true;
  return ::pread(file.number(), &last, 1, about.st_size - 1) == 1 && last == '\n';
}

/// A relative path counts as none.  spec: XDG Base Directory Specification
std::optional<std::filesystem::path> base_directory(const char* variable, const char* below_home) {
  if (const auto named = environment(variable); named && named->starts_with('/')) return *named;
  if (const auto home = user_home()) return std::filesystem::path(*home) / below_home;
  return std::nullopt;
}

constexpr std::size_t kMaxTrustedFileBytes = 1 * kMiB;  // guess: ten thousand lines

tl::unexpected<Error> refused(const std::string& path, std::string why) {
  return fail(Errc::bad_argument, "read " + path, std::move(why));
}

}  // namespace

std::optional<std::filesystem::path> user_file(std::string_view name) {
  const auto directory = base_directory("XDG_CONFIG_HOME", ".config");
  return directory ? std::optional(*directory / "udtcat" / name) : std::nullopt;
}

std::optional<std::string> user_cache(std::string_view name) {
  const auto directory = base_directory("XDG_CACHE_HOME", ".cache");
  return directory ? std::optional((*directory / "udtcat" / name).string()) : std::nullopt;
}

std::optional<std::string> user_home() {
  if (auto named = environment("HOME")) return named;
  const passwd* const entry = ::getpwuid(::geteuid());
  if (entry == nullptr || entry->pw_dir == nullptr || *entry->pw_dir != '/') return std::nullopt;
  return entry->pw_dir;
}

bool is_missing(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::symlink_status(file, ignored).type() == std::filesystem::file_type::not_found;
}

Status make_private_directory_of(const std::filesystem::path& file) {
  const auto directory = file.parent_path();
  std::error_code failed;
  if (directory.empty() || std::filesystem::is_directory(directory, failed)) return {};
  std::vector<std::filesystem::path> made;
  for (auto at = directory; !at.empty() && !std::filesystem::exists(at, failed); at = at.parent_path())
    made.push_back(at);
  std::filesystem::create_directories(directory.parent_path(), failed);
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return core::fail_by_errno(Errc::local_write_failed, "make the directory " + directory.string());
  for (const auto& each : made) UDTCAT_CHECK(sync_name(each));
  return {};
}

Status write_new_file(const std::filesystem::path& file, std::string_view text, unsigned mode) {
  // It has its name once all of it is on the disk, where the file system has files without names.  spec: open(2)
  const Descriptor nameless(::open(directory_of(file).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
  const auto sync_or_remove = [&file](Status written) {
    if (written) written = sync_name(file);
    if (!written) std::ignore = ::unlink(file.c_str());  // else the next run is refused: the file exists
    return written;
  };
  if (nameless.is_open()) {
    UDTCAT_CHECK(write_all(nameless, file, text));
    const std::string by_number = "/proc/self/fd/" + std::to_string(nameless.number());
    if (::linkat(AT_FDCWD, by_number.c_str(), AT_FDCWD, file.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      // Some file systems, as btrfs, keep nothing of a file that had no name.
      return sync_or_remove(::fdatasync(nameless.number()) == 0 ? Status() : not_written(file, errno));
    }
    if (errno == EEXIST) return there_already(file);
  }
  const Descriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!made.is_open()) return errno == EEXIST ? there_already(file) : not_written(file, errno);
  return sync_or_remove(write_all(made, file, text));
}

Status append_line(const std::filesystem::path& file,
                   const std::function<Result<std::optional<std::string>>()>& decide) {
  UDTCAT_CHECK(make_private_directory_of(file));
  const Descriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOwnerOnly));
  if (!opened.is_open() || ::flock(opened.number(), LOCK_EX) != 0) return not_written(file, errno);
  UDTCAT_TRY(const auto line, decide());
  if (!line) return {};
  struct stat before {};
  if (::fstat(opened.number(), &before) != 0) return not_written(file, errno);
  if (auto written = write_all(opened, file, (ends_a_line(opened) ? "" : "\n") + *line + "\n"); !written) {
    std::ignore = ::ftruncate(opened.number(), before.st_size);  // half a line would spoil the whole file
    return written;
  }
  return sync_name(file);
}

Result<std::string> read_trusted_file(const std::string& path) {
  // A pipe that nobody writes to is opened at once, so that it can be refused.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat about {};
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return refused(path, core::errno_text(errno));
  if (!S_ISREG(about.st_mode)) return refused(path, "it is no regular file");
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0 || (about.st_uid != 0 && about.st_uid != ::geteuid()))
    return refused(path, "others can write to it, and so to what it says: chown it to you or root, and chmod go-w");
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() <= kMaxTrustedFileBytes) {
    const ssize_t taken = ::read(file.number(), piece.data(), piece.size());
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) return refused(path, core::errno_text(errno));
    if (taken == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(taken));
  }
  return refused(path, "it is larger than a megabyte");
}

std::string read_cache_file(const std::filesystem::path& file, std::size_t max_bytes) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return {};  // a FIFO's opening would wait for its writer
  std::ifstream source(file);
  std::string text(max_bytes, '\0');
  source.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(source.gcount()));
  return text;
}

void replace_cache_file(const std::filesystem::path& file, std::string_view text) {
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  const std::filesystem::path fresh = file.string() + "." + std::to_string(::getpid());
  {
    std::ofstream out(fresh, std::ios::trunc);
    std::filesystem::permissions(fresh, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
                                 failed);
    out << text;
    if (!out.flush()) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) std::filesystem::rename(fresh, file, failed);
  if (failed) std::filesystem::remove(fresh, failed);
}

}  // namespace udtcat::tool
