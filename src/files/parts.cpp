// SPDX-License-Identifier: Apache-2.0
#include "files/parts.hpp"

#include <cerrno>
#include <span>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/attributes.hpp"
#include "files/sha256.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr mode_t kOwnDirectoryMode = 0700;  // spec: docs/spec/trees.md §5
constexpr mode_t kPartMode = 0600;          // spec: docs/spec/trees.md §5: its own mode comes when it is whole

tl::unexpected<Error> no_place(const std::string& shown, std::string cause) {
  return fail(Errc::local_write_failed, "keep parts of files in " + shown, std::move(cause));
}

/// Of a part, whatever the path is.
std::string name_of(const std::string& path) { return to_hex(digest_of({std::as_bytes(std::span(path))})); }

/// A directory that nobody else can write to, made where it is not there.
Result<bridge::Descriptor> open_own_directory(const bridge::Descriptor& above, const std::string& name,
                                              const std::string& shown) {
  if (::mkdirat(above.number(), name.c_str(), kOwnDirectoryMode) != 0 && errno != EEXIST)
    return no_place(shown, core::errno_text(errno));
  bridge::Descriptor opened(::openat(above.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!opened.is_open() || ::fstat(opened.number(), &status) != 0) return no_place(shown, core::errno_text(errno));
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return no_place(shown, "it belongs to somebody else, or others may write to it");
  return opened;
}

}  // namespace

Result<Parts> Parts::open(const FileTree& tree, const std::string& job, Held held) {
  const std::string shown = tree.shown(kPartsName);
  UDTCAT_TRY(const auto root, tree.enter("", Errc::local_write_failed));
  for (;;) {
    UDTCAT_TRY(auto all, open_own_directory(*root, kPartsName, shown));
    auto own = open_own_directory(all, job, shown + '/' + job);
    // Another transfer that has just ended may have removed the folder above.
    if (!own && ::faccessat(root->number(), kPartsName, F_OK, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!own) return tl::unexpected(std::move(own.error()));
    if (::flock(own->number(), LOCK_EX | (held == Held::refuse ? LOCK_NB : 0)) != 0)
      return fail(Errc::out_of_resources, "receive into " + tree.shown("."),
                  "the same transfer is under way in another process");
    // The process that held it may have removed the folder at its end.
    struct stat now {};
    if (::fstat(own->number(), &now) != 0 || now.st_nlink == 0) continue;
    return Parts(tree, std::make_shared<const bridge::Descriptor>(std::move(all)),
                 std::make_shared<const bridge::Descriptor>(std::move(*own)), job);
  }
}

FileLocation Parts::of(const std::string& path) const { return {own_, name_of(path), tree_.shown(path)}; }

/// A link or a device that a transfer was cut at goes away; a part that was cut when it was whole has its own mode.
void Parts::make_usable(const std::string& path) const {
  const auto part = of(path).open(O_PATH, Errc::local_write_failed);
  struct stat status {};
  if (!part || ::fstat(part->number(), &status) != 0) return;  // its opening says so
  if (!S_ISREG(status.st_mode) || status.st_nlink != 1) return of(path).remove();
  if ((status.st_mode & kPartMode) != kPartMode) std::ignore = set_mode(*part, kPartMode, path);  // likewise
}

Result<bridge::Descriptor> Parts::take(const std::string& path) const {
  make_usable(path);
  const FileLocation location = of(path);
  bridge::Descriptor part(::openat(own_->number(), name_of(path).c_str(),
                                   O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kPartMode));
  struct stat status {};
  if (!part.is_open() || ::fstat(part.number(), &status) != 0)
    return fail(Errc::local_write_failed, "write " + location.shown(), core::errno_text(errno));
  if (S_ISREG(status.st_mode) && status.st_nlink == 1) return part;
  return fail(Errc::local_write_failed, "write " + location.shown(), "its part is no file");
}

void Parts::remove() const {
  const auto names = tree_.names(std::string(kPartsName) + '/' + job_);
  if (names)
    for (const std::string& name : *names) std::ignore = ::unlinkat(own_->number(), name.c_str(), 0);
  tidy();
}

void Parts::tidy() const {
  std::ignore = ::unlinkat(all_->number(), job_.c_str(), AT_REMOVEDIR);
  const auto root = tree_.enter("", Errc::local_write_failed);
  // Others' parts keep it.
  if (root) std::ignore = ::unlinkat((*root)->number(), kPartsName, AT_REMOVEDIR);
}

}  // namespace udtcat::files
