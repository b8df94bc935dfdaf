// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/served_root.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gridftp/server/name_pattern.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::gridftp {

namespace {

constexpr mode_t kNewDirectoryMode = 0777;  // spec: POSIX: the umask takes from it

tl::unexpected<Error> failed(Errc code, const char* doing, const std::string& path) {
  return core::fail_by_errno(code, std::string(doing) + ' ' + path);
}

/// As open(2) where `root` is the root: neither "..", nor "/", nor a symbolic link leads out of it.
/// returns  not open, and errno says why: ENOSYS where the kernel cannot do that
bridge::Descriptor open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags) | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0U : unsigned{O_NONBLOCK});
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: a rename raced with the lookup.  spec: openat2(2)
  constexpr int kTries = 16;
  for (int tried = 0; tried < kTries; ++tried) {
    const long number = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (number >= 0) return bridge::Descriptor(static_cast<int>(number));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return {};
}

/// Whether a link leads nowhere, or out of the root, by the errno of a look at what it leads to.
bool leads_nowhere(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV || error == ENAMETOOLONG;
}

/// Whether an errno is about this host at this moment, and not about a name.
bool may_pass(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN || error == EINTR;
}

char letter_of(mode_t mode) {
  if (S_ISDIR(mode)) return 'd';
  if (S_ISLNK(mode)) return 'l';
  if (S_ISFIFO(mode)) return 'p';
  if (S_ISSOCK(mode)) return 's';
  if (S_ISCHR(mode)) return 'c';
  return S_ISBLK(mode) ? 'b' : '-';
}

FileFacts facts_from(const struct stat& status, std::string name, bool writable) {
  FileFacts facts;
  facts.name = std::move(name);
  facts.kind = S_ISREG(status.st_mode)   ? FileFacts::Kind::file
               : S_ISDIR(status.st_mode) ? FileFacts::Kind::directory
               : S_ISLNK(status.st_mode) ? FileFacts::Kind::link
                                         : FileFacts::Kind::other;
  facts.letter = letter_of(status.st_mode);
  facts.size_bytes = static_cast<std::uint64_t>(status.st_size);
  facts.changed = status.st_mtime;
  facts.mode = status.st_mode & 0777U;
  facts.writable = writable;
  return facts;
}

}  // namespace

/// A path's directory, opened, and its last word.
struct ServedRoot::SplitPath {
  std::shared_ptr<const bridge::Descriptor> directory;
  std::string name;
};

Result<ServedRoot> ServedRoot::open(const std::string& directory) {
  bridge::Descriptor root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return failed(Errc::bad_argument, "serve the directory", directory);
  if (open_beneath(root.number(), ".", O_RDONLY | O_DIRECTORY).is_open()) return ServedRoot(std::move(root));
  // A sandbox that does not know a call refuses it with EPERM.
  if (errno != ENOSYS && errno != EPERM) return failed(Errc::bad_argument, "serve the directory", directory);
  return fail(Errc::bad_argument, "serve the directory " + directory,
              fmt::format("this system cannot keep a peer inside: it takes openat2(), Linux 5.6, and says: {}",
                          core::errno_text(errno)));
}

Result<bridge::Descriptor> ServedRoot::open_to_read(const std::string& path) const {
  auto descriptor = open_beneath(root_->number(), path, O_RDONLY);
  if (!descriptor.is_open()) return failed(Errc::local_read_failed, "read", path);
  return descriptor;
}

Result<ServedRoot::SplitPath> ServedRoot::part(const std::string& path) const {
  std::string_view trimmed = path;
  while (trimmed.ends_with('/')) trimmed.remove_suffix(1);
  const auto slash = trimmed.rfind('/');
  const std::string name(slash == std::string_view::npos ? trimmed : trimmed.substr(slash + 1));
  const std::string parent(slash == std::string_view::npos ? std::string_view(".") : trimmed.substr(0, slash + 1));
  if (name.empty() || name == "." || name == "..")
    return fail(Errc::local_write_failed, "write " + path, "it names a directory that is there already");
  auto directory = open_beneath(root_->number(), parent, O_RDONLY | O_DIRECTORY);
  if (!directory.is_open()) return failed(Errc::local_write_failed, "write", path);
  return SplitPath{std::make_shared<const bridge::Descriptor>(std::move(directory)), name};
}

Result<ServedRoot> ServedRoot::below(const std::string& directory, bool is_made) const {
  const files::FileTree all = tree();
  UDTCAT_TRY(const files::FileTree own,
             is_made ? all.make_below(directory) : all.below(directory, Errc::local_read_failed));
  UDTCAT_TRY(auto root, own.enter("", Errc::local_read_failed));
  return ServedRoot(std::move(root));
}

Result<files::FileLocation> ServedRoot::location_of(const std::string& path) const {
  UDTCAT_TRY(auto parted, part(path));
  return files::FileLocation(std::move(parted.directory), std::move(parted.name), path);
}

Result<FileFacts> ServedRoot::facts_of(const std::string& path) const {
  const auto descriptor = open_beneath(root_->number(), path, O_PATH);
  struct stat status {};
  if (!descriptor.is_open() || ::fstat(descriptor.number(), &status) != 0)
    return failed(Errc::local_read_failed, "look at", path);
  const bool writable = ::faccessat(descriptor.number(), "", W_OK, AT_EMPTY_PATH) == 0;
  return facts_from(status, path, writable);
}

bool ServedRoot::has_nothing_at(const std::string& path) const {
  return !open_beneath(root_->number(), path, O_PATH).is_open() && errno == ENOENT;
}

Result<DirectoryWalk> ServedRoot::list(const std::string& path) const {
  auto descriptor = open_beneath(root_->number(), path, O_RDONLY | O_DIRECTORY);
  if (!descriptor.is_open()) return failed(Errc::local_read_failed, "list", path);
  return DirectoryWalk(root_, std::make_shared<files::DirectoryReader>(std::move(descriptor)), path);
}

/// A link to a directory that contains it is not shown as a directory: a client that follows links would not end.
tl::expected<bool, int> DirectoryWalk::is_above(File directory) {
  std::string path = shown_;
  for (bool more = above_.empty(); more;) {
    struct stat status {};
    const auto above = open_beneath(root_->number(), path.empty() ? "/" : path, O_PATH);
    if (!above.is_open() || ::fstat(above.number(), &status) != 0) {
      const int error = errno;
      above_.clear();
      return tl::unexpected(error);
    }
    above_.emplace_back(status.st_dev, status.st_ino);
    more = !path.empty();
    path.erase(std::min(path.rfind('/'), path.size()));
  }
  return std::ranges::find(above_, directory) != above_.end();
}

tl::expected<FileFacts, int> DirectoryWalk::look_at(const std::string& name) {
  struct stat status {};
  // AT_SYMLINK_NOFOLLOW: a link may lead outside the root, and of_link() stays inside.
  if (::fstatat(reader_->number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return tl::unexpected(errno);
  if (S_ISLNK(status.st_mode)) return of_link(name, status);
  const bool writable = ::faccessat(reader_->number(), name.c_str(), W_OK, AT_SYMLINK_NOFOLLOW) == 0;
  return facts_from(status, name, writable);
}

tl::expected<FileFacts, int> DirectoryWalk::of_link(const std::string& name, const struct stat& link) {
  if (const auto target = open_beneath(root_->number(), shown_ + '/' + name, O_PATH); target.is_open()) {
    struct stat status {};
    if (::fstat(target.number(), &status) != 0) return tl::unexpected(errno);
    const auto is_loop = S_ISDIR(status.st_mode) ? is_above({status.st_dev, status.st_ino}) : false;
    if (!is_loop) return tl::unexpected(is_loop.error());
    if (!*is_loop) return facts_from(status, name, ::faccessat(target.number(), "", W_OK, AT_EMPTY_PATH) == 0);
  } else if (!leads_nowhere(errno)) {
    return tl::unexpected(errno);
  }
  FileFacts facts = facts_from(link, name, false);
  std::array<char, PATH_MAX> text{};
  const auto bytes = ::readlinkat(reader_->number(), name.c_str(), text.data(), text.size());
  if (bytes < 0) return tl::unexpected(errno);
  facts.leads_to.assign(text.data(), static_cast<std::size_t>(bytes));
  return facts;
}

Result<std::vector<FileFacts>> DirectoryWalk::next(std::size_t most_entries) {
  std::vector<FileFacts> slice;
  while (slice.size() < most_entries) {
    const auto found = reader_->next();
    if (!found) return core::fail_by_errno(Errc::local_read_failed, "list " + shown_, found.error());
    if (!*found) break;
    const std::string& name = **found;
    if (!pattern_.empty() && !matches(pattern_, name)) continue;
    if (auto facts = look_at(name)) {
      slice.push_back(std::move(*facts));
    } else if (may_pass(facts.error())) {
      return core::fail_by_errno(Errc::local_read_failed, "list " + shown_ + ": look at " + name, facts.error());
    } else if (facts.error() != ENOENT) {  // else it has gone
      ++without_status_;
      errno_value_ = facts.error();
    }
  }
  for (FileFacts& facts : slice) facts.name.insert(0, above_name_);
  std::ranges::sort(slice, {}, &FileFacts::name);
  return slice;
}

Status ServedRoot::make_directory(const std::string& path) const {
  UDTCAT_TRY(const auto parted, part(path));
  if (::mkdirat(parted.directory->number(), parted.name.c_str(), kNewDirectoryMode) != 0)
    return failed(Errc::local_write_failed, "make the directory", path);
  if (const auto error = bridge::sync_names(parted.directory->number(), "."))
    return fail(Errc::local_write_failed, "store the name of " + path, core::errno_text(error.value()));
  return {};
}

Status ServedRoot::remove(const std::string& path, bool directory) const {
  UDTCAT_TRY(const auto parted, part(path));
  if (::unlinkat(parted.directory->number(), parted.name.c_str(), directory ? AT_REMOVEDIR : 0) != 0)
    return failed(Errc::local_write_failed, "remove", path);
  return {};
}

}  // namespace udtcat::gridftp
