// SPDX-License-Identifier: Apache-2.0
#include "files/file_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr mode_t kTreeDirectoryMode = 0777;  // spec: POSIX: the umask takes from it
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

tl::unexpected<Error> tree_failed(Errc code, const char* doing, const std::string& shown) {
  return fail(code, std::string(doing) + ' ' + shown, core::errno_text(errno));
}

/// "a/b/c": "a/b" and "c".
std::pair<std::string, std::string> parted(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

FileTree::Entry::Kind kind_of_mode(mode_t mode) {
  using Kind = FileTree::Entry::Kind;
  if (S_ISLNK(mode)) return Kind::link;
  return S_ISREG(mode) ? Kind::file : S_ISDIR(mode) ? Kind::directory : Kind::special;
}

}  // namespace

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

Result<std::shared_ptr<const bridge::Descriptor>> FileTree::enter(const std::string& path, Errc code) const {
  auto at = root_;
  for (std::string_view rest = path; !rest.empty();) {
    const auto slash = rest.find('/');
    const std::string word(rest.substr(0, slash));
    bridge::Descriptor next(::openat(at->number(), word.c_str(), kDirectoryFlags | O_NOFOLLOW));
    if (!next.is_open()) return tree_failed(code, "open the directory", shown(path));
    at = std::make_shared<const bridge::Descriptor>(std::move(next));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  return at;
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

Result<std::vector<FileTree::Entry>> FileTree::list(const std::string& path) const {
  UDTCAT_TRY(const auto directory, enter(path, Errc::local_read_failed));
  bridge::Descriptor own(::openat(directory->number(), ".", kDirectoryFlags));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(own.is_open() ? ::fdopendir(own.number()) : nullptr, ::closedir);
  if (!stream) return tree_failed(Errc::local_read_failed, "list", shown(path));
  std::ignore = own.release();
  std::vector<Entry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return tree_failed(Errc::local_read_failed, "list", shown(path));
    if (entry == nullptr) break;
    const std::string name = static_cast<const char*>(entry->d_name);
    if (name == "." || name == "..") continue;
    struct stat status {};
    const bool is_there = ::fstatat(directory->number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_there && errno == ENOENT) continue;  // somebody has just removed it
    if (!is_there)
      return tree_failed(Errc::local_read_failed, "look at", shown(path.empty() ? name : path + '/' + name));
    entries.push_back({name, kind_of_mode(status.st_mode)});
  }
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

}  // namespace udtcat::files
