// SPDX-License-Identifier: Apache-2.0
#include "files/file_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr mode_t kTreeDirectoryMode = 0777;  // spec: POSIX: the umask takes from it
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
// Of one that is passed through only: who may not list it may still know a name in it.
constexpr int kPassingFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

tl::unexpected<Error> tree_failed(Errc code, const char* doing, const std::string& shown) {
  return fail(code, std::string(doing) + ' ' + shown, core::errno_text(errno));
}

/// "a/b/c": "a/b" and "c".
std::pair<std::string, std::string> parted(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

/// In one call; a kernel before 5.6, or one whose sandbox does not know it, refuses with ENOSYS or EPERM.
bridge::Descriptor open_beneath(const bridge::Descriptor& root, const std::string& path) {
  open_how how{};
  how.flags = kPassingFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return bridge::Descriptor(static_cast<int>(::syscall(SYS_openat2, root.number(), path.c_str(), &how, sizeof how)));
}

FileTree::Entry::Kind kind_of_mode(mode_t mode) {
  using Kind = FileTree::Entry::Kind;
  if (S_ISLNK(mode)) return Kind::link;
  return S_ISREG(mode) ? Kind::file : S_ISDIR(mode) ? Kind::directory : Kind::special;
}

}  // namespace

std::optional<std::vector<std::string>> names_in(bridge::Descriptor directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(directory.is_open() ? ::fdopendir(directory.number()) : nullptr,
                                                   ::closedir);
  if (!stream) return std::nullopt;
  std::ignore = directory.release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return std::nullopt;
    if (entry == nullptr) break;
    std::string name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.push_back(std::move(name));
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
  if (::mkdir(directory.c_str(), kTreeDirectoryMode) != 0 && errno != EEXIST)
    return tree_failed(Errc::local_write_failed, "make the directory", directory);
  bridge::Descriptor root(::open(directory.c_str(), kDirectoryFlags));
  if (!root.is_open()) return tree_failed(Errc::local_write_failed, "open the directory", directory);
  return FileTree(std::move(root), directory);
}

std::string FileTree::shown(const std::string& path) const {
  return shown_ == "." ? path : shown_.ends_with('/') ? shown_ + path : shown_ + '/' + path;
}

Result<std::shared_ptr<const bridge::Descriptor>> FileTree::enter(const std::string& path, Errc code) const {
  if (path.empty()) return root_;
  if (auto opened = open_beneath(*root_, path); opened.is_open())
    return std::make_shared<const bridge::Descriptor>(std::move(opened));
  if (errno != ENOSYS && errno != EPERM) return tree_failed(code, "open the directory", shown(path));
  return enter_by_words(path, code);
}

Result<std::shared_ptr<const bridge::Descriptor>> FileTree::enter_by_words(const std::string& path, Errc code) const {
  auto at = root_;
  for (std::string_view rest = path; !rest.empty();) {
    const auto slash = rest.find('/');
    const std::string word(rest.substr(0, slash));
    bridge::Descriptor next(::openat(at->number(), word.c_str(), kPassingFlags | O_NOFOLLOW));
    if (!next.is_open()) return tree_failed(code, "open the directory", shown(path));
    at = std::make_shared<const bridge::Descriptor>(std::move(next));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  return at;
}

Result<FileTree> FileTree::below(const std::string& path, Errc code) const {
  UDTCAT_TRY(auto root, enter(path, code));
  return FileTree(std::move(root), shown(path));
}

Result<FileLocation> FileTree::locate(const std::string& path, Errc code) const {
  auto [above, name] = parted(path);
  UDTCAT_TRY(auto directory, enter(above, code));
  return FileLocation(std::move(directory), std::move(name), shown(path));
}

Status FileTree::make_directory(const std::string& path) const {
  const auto [above, name] = parted(path);
  UDTCAT_TRY(const auto directory, enter(above, Errc::local_write_failed));
  if (::mkdirat(directory->number(), name.c_str(), kTreeDirectoryMode) != 0 && errno != EEXIST)
    return tree_failed(Errc::local_write_failed, "make the directory", shown(path));
  UDTCAT_CHECK(enter(path, Errc::local_write_failed));  // what is there may be something else
  return {};
}

Result<std::vector<std::string>> FileTree::names(const std::string& path) const {
  UDTCAT_TRY(const auto directory, enter(path, Errc::local_read_failed));
  auto names = names_in(bridge::Descriptor(::openat(directory->number(), ".", kDirectoryFlags)));
  if (!names) return tree_failed(Errc::local_read_failed, "list", shown(path));
  return std::move(*names);
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
