// SPDX-License-Identifier: Apache-2.0
#include "files/file_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files/directory_reader.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr mode_t kTreeDirectoryMode = 0777;  // spec: POSIX: the umask takes from it
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
// O_PATH: a directory on the way need not be readable.
constexpr int kPassingFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

tl::unexpected<Error> tree_failed(Errc code, const char* doing, const std::string& shown) {
  return core::fail_by_errno(code, std::string(doing) + ' ' + shown);
}

/// "a/b/c": "a/b" and "c".
std::pair<std::string, std::string> parted(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

/// In one call; a kernel before 5.6, or one whose sandbox does not know it, refuses with ENOSYS or EPERM.
bridge::Descriptor open_beneath(const bridge::Descriptor& root, const std::string& path, std::uint64_t resolve) {
  open_how how{};
  how.flags = kPassingFlags;
  how.resolve = resolve;
  return bridge::Descriptor(static_cast<int>(::syscall(SYS_openat2, root.number(), path.c_str(), &how, sizeof how)));
}

FileTree::Entry::Kind kind_of_mode(mode_t mode) {
  using Kind = FileTree::Entry::Kind;
  if (S_ISLNK(mode)) return Kind::link;
  return S_ISREG(mode) ? Kind::file : S_ISDIR(mode) ? Kind::directory : Kind::special;
}

}  // namespace

std::optional<std::vector<std::string>> names_in(bridge::Descriptor directory) {
  if (!directory.is_open()) return std::nullopt;
  DirectoryReader reader(std::move(directory));
  std::vector<std::string> names;
  for (;;) {
    auto name = reader.next();
    if (!name) {
      errno = name.error();
      return std::nullopt;
    }
    if (!*name) break;
    names.push_back(std::move(**name));
  }
  std::ranges::sort(names);
  return names;
}

Result<FileTree> FileTree::open(const std::string& directory) {
  bridge::Descriptor root(::open(directory.c_str(), kDirectoryFlags));
  if (!root.is_open()) return tree_failed(Errc::local_read_failed, "open the directory", directory);
  return FileTree(std::move(root), directory);
}

Result<FileTree> FileTree::make(const std::string& directory) {
  const bool is_new = ::mkdir(directory.c_str(), kTreeDirectoryMode) == 0;
  if (!is_new && errno != EEXIST) return tree_failed(Errc::local_write_failed, "make the directory", directory);
  if (is_new) UDTCAT_CHECK(FileLocation(directory).sync_name());
  bridge::Descriptor root(::open(directory.c_str(), kDirectoryFlags));
  if (!root.is_open()) return tree_failed(Errc::local_write_failed, "open the directory", directory);
  return FileTree(std::move(root), directory);
}

std::string FileTree::shown(const std::string& path) const {
  return shown_ == "." ? path : shown_.ends_with('/') ? shown_ + path : shown_ + '/' + path;
}

Result<std::shared_ptr<const bridge::Descriptor>> FileTree::enter(const std::string& path, Errc code) const {
  if (path.empty()) return root_;
  constexpr std::uint64_t kNoLinks = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  if (auto opened = open_beneath(*root_, path, kNoLinks); opened.is_open())
    return std::make_shared<const bridge::Descriptor>(std::move(opened));
  if (errno != ENOSYS && errno != EPERM) return cannot_enter(path, code, errno);
  return enter_by_words(path, code);
}

Result<std::shared_ptr<const bridge::Descriptor>> FileTree::enter_by_words(const std::string& path, Errc code) const {
  auto at = root_;
  for (std::string_view rest = path; !rest.empty();) {
    const auto slash = rest.find('/');
    const std::string word(rest.substr(0, slash));
    if (word == "..") return cannot_enter(path, code, EXDEV);  // as openat2(2) has it
    bridge::Descriptor next(::openat(at->number(), word.c_str(), kPassingFlags | O_NOFOLLOW));
    if (!next.is_open()) return cannot_enter(path, code, errno);
    at = std::make_shared<const bridge::Descriptor>(std::move(next));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  return at;
}

/// Names a symbolic link on the way, which the system reports as "too many levels" or "not a directory".
tl::unexpected<Error> FileTree::cannot_enter(const std::string& path, Errc code, int error) const {
  const std::string doing = "open the directory " + shown(path);
  if (error != ELOOP && error != ENOTDIR) return core::fail_by_errno(code, doing, error);
  for (std::size_t end = 0; end < path.size(); ++end) {
    end = std::min(path.find('/', end), path.size());
    const std::string word = path.substr(0, end);
    struct stat status {};
    if (::fstatat(root_->number(), word.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) break;
    if (S_ISLNK(status.st_mode))
      return fail(code, doing,
                  fmt::format("{} is a symbolic link; nothing is {} through it", shown(word),
                              code == Errc::local_write_failed ? "written" : "read"));
  }
  return core::fail_by_errno(code, doing, error);
}

Result<FileTree> FileTree::make_below(const std::string& path) const {
  if (path.empty()) return *this;
  for (auto end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
    UDTCAT_CHECK(make_directory(path.substr(0, end)));
  UDTCAT_CHECK(make_directory(path));
  return below(path, Errc::local_write_failed);
}

Result<FileTree> FileTree::below(const std::string& path, Errc code) const {
  UDTCAT_TRY(auto root, enter(path, code));
  return FileTree(std::move(root), shown(path));
}

Result<FileTree> FileTree::below_link(const std::string& path, Errc code) const {
  // Only the last word may be a link.
  UDTCAT_CHECK(enter(parted(path).first, code));
  if (auto opened = open_beneath(*root_, path, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS); opened.is_open())
    return FileTree(std::move(opened), shown(path));
  if (errno == EXDEV)
    return fail(code, "open the directory " + shown(path), "it is a symbolic link that leads out of " + shown_);
  if (errno != ENOSYS && errno != EPERM) return tree_failed(code, "open the directory", shown(path));
  return below(path, code);
}

Result<FileLocation> FileTree::locate(const std::string& path, Errc code) const {
  auto [above, name] = parted(path);
  UDTCAT_TRY(auto directory, enter(above, code));
  return FileLocation(std::move(directory), std::move(name), shown(path));
}

Status FileTree::make_directory(const std::string& path) const {
  const auto [above, name] = parted(path);
  UDTCAT_TRY(const auto directory, enter(above, Errc::local_write_failed));
  const bool is_new = ::mkdirat(directory->number(), name.c_str(), kTreeDirectoryMode) == 0;
  if (!is_new && errno != EEXIST) return tree_failed(Errc::local_write_failed, "make the directory", shown(path));
  if (is_new) UDTCAT_CHECK(FileLocation(directory, name, shown(path)).sync_name());
  UDTCAT_CHECK(enter(path, Errc::local_write_failed));  // what is there may be something else
  return {};
}

Result<std::vector<std::string>> FileTree::names(const std::string& path, const struct stat* expected) const {
  UDTCAT_TRY(const auto directory, enter(path, Errc::local_read_failed));
  bridge::Descriptor own(::openat(directory->number(), ".", kDirectoryFlags));
  struct stat status {};
  const bool is_other =
      own.is_open() && expected != nullptr && (::fstat(own.number(), &status) != 0 || !is_same_file(status, *expected));
  if (is_other) return fail(Errc::local_read_failed, "list " + shown(path), "it is another directory by now");
  auto names = names_in(std::move(own));
  if (!names) return tree_failed(Errc::local_read_failed, "list", shown(path));
  return std::move(*names);
}

Result<struct stat> FileTree::look() const {
  struct stat status {};
  if (::fstat(root_->number(), &status) != 0) return tree_failed(Errc::local_read_failed, "look at", shown_);
  return status;
}

Result<std::vector<FileTree::Entry>> FileTree::list(const std::string& path) const {
  UDTCAT_TRY(const auto found, names(path));
  TreeCursor cursor(*this);
  std::vector<Entry> entries;
  for (const std::string& name : found) {
    UDTCAT_TRY(const auto location, cursor.locate(path.empty() ? name : path + '/' + name, Errc::local_read_failed));
    UDTCAT_TRY(const auto status, location.look());
    if (status) entries.push_back({name, kind_of_mode(status->st_mode)});  // else somebody has just removed it
  }
  return entries;
}

Result<FileLocation> TreeCursor::locate(const std::string& path, Errc code) {
  auto [above, name] = parted(path);
  if (!directory_ || above != above_) {
    directory_.reset();
    UDTCAT_TRY(directory_, tree_.enter(above, code));
    above_ = std::move(above);
  }
  return FileLocation(directory_, std::move(name), tree_.shown(path));
}

}  // namespace udtcat::files
