// SPDX-License-Identifier: Apache-2.0
#include "trees/destination.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/fingerprint.hpp"
#include "trees/disk/tree_hash.hpp"

namespace udtcat::trees {

namespace {

constexpr mode_t kUnfinishedMode = 0700;  // spec: docs/spec/trees.md §5

std::string above(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// A flag of chattr(1) that keeps a file from being replaced.
bool is_immutable(const files::FileLocation& location) {
  const auto status = location.look_by(0);
  return status && (status->stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
}

}  // namespace

NameResult<files::FileLocation> Destination::locate(const std::string& path) {
  return of_name(cursor_.locate(path, Errc::local_write_failed));
}

NameResult<std::optional<struct stat>> Destination::look(const std::string& path) {
  UDTCAT_TRY(const auto location, locate(path));
  return location.look();
}

ScopedStatus Destination::check_not_over(const std::string& path) const {
  if (!is_over_()) return {};
  return of_transfer(fail(Errc::connection_broken, "write " + tree().shown(path), "the transfer is over"));
}

ScopedResult<files::DirectoryUse::Reservation> Destination::charge_name(const Entry& entry) {
  std::uint64_t bytes = 0;
  for (const auto& each : entry.attributes.extended) bytes += each.name.size() + each.value.size();
  return write_budget().charge_name(bytes, entry.path);
}

/// Attributes that the file system of a path's directory keeps.
NameResult<AttributeTraits> Destination::attribute_traits(const std::string& path) {
  UDTCAT_CHECK(enter(path));
  const auto traits = parts_.traits_on(directory_->status.st_dev).value_or(FileSystemTraits());
  return AttributeTraits{.owners = keeps_owners_, .time_unit = traits.time_unit, .modes = traits.keeps_modes};
}

NameStatus Destination::enter(const std::string& path) {
  std::string directory = above(path);
  if (directory_ && directory_->path == directory) return {};
  directory_.reset();
  UDTCAT_TRY(const auto location, locate(path));
  CachedDirectory entered{.path = std::move(directory)};
  const int number = location.above()->number();
  if (::fstat(number, &entered.status) != 0 || ::faccessat(number, ".", W_OK | X_OK, AT_EACCESS) != 0)
    entered.is_writable =
        of_name(core::fail_by_errno(Errc::local_write_failed, "make names in " + tree().shown(entered.path)));
  written_.add_file_system(entered.status.st_dev, *location.above());
  directory_ = std::move(entered);
  // A file system that was not met before is asked what it keeps, where that can be.
  if (directory_->is_writable && !parts_.traits_on(directory_->status.st_dev)) std::ignore = folder_of(path);
  return {};
}

NameResult<PartsFolder> Destination::folder_of(const std::string& path) {
  UDTCAT_CHECK(enter(path));
  if (!directory_->folder) {
    UDTCAT_TRY(directory_->folder, parts_.folder_for(directory_->path));
  }
  return *directory_->folder;
}

NameStatus Destination::check_place(const std::string& path, const std::optional<struct stat>& there) {
  UDTCAT_CHECK(enter(path));
  {
    const core::MutexLock lock(written_.names());
    if (written_.is_below_refused(path))
      return fail(Errc::local_write_failed, "write " + tree().shown(path), "the directory that it is in is missing");
  }
  UDTCAT_CHECK(directory_->is_writable);
  UDTCAT_CHECK(folder_of(path));
  if (!there) return {};
  UDTCAT_TRY(const auto location, locate(path));
  const auto refused = [&](const char* cause) {
    return fail(Errc::local_write_failed, "replace " + location.shown(), cause);
  };
  if (S_ISDIR(there->st_mode)) return refused("there is a directory");
  const uid_t own = ::geteuid();
  const bool is_kept = (directory_->status.st_mode & S_ISVTX) != 0 && own != 0 && there->st_uid != own &&
                       directory_->status.st_uid != own;
  if (is_kept) return refused("it is somebody else's, in a directory where each may remove his own files only");
  if (is_immutable(location)) return refused("it is immutable, or may only be appended to (chattr(1))");
  return {};
}

ScopedResult<struct stat> Destination::make_directory(const Entry& entry) {
  const std::string& path = entry.path;
  UDTCAT_TRY(const auto location, locate(path));
  UDTCAT_TRY(const auto status, of_name(location.look()));
  if (status && !S_ISDIR(status->st_mode))
    return of_name(fail(Errc::local_write_failed, "make the directory " + location.shown(),
                        S_ISLNK(status->st_mode) ? "there is a symbolic link, and nothing is written through it"
                                                 : "there is something else"));
  if (!status) {
    UDTCAT_CHECK(check_place(path, std::nullopt));
    UDTCAT_TRY(const auto reservation, charge_name(entry));
    UDTCAT_CHECK(of_name(location.make_directory(kUnfinishedMode)));
  }
  UDTCAT_TRY(const auto opened, of_name(location.open(O_PATH | O_DIRECTORY, Errc::local_write_failed)));
  struct stat now {};
  if (::fstat(opened.number(), &now) != 0 || (status && !is_same_file(now, *status)))
    return of_name(
        fail(Errc::local_write_failed, "make the directory " + location.shown(), "somebody else has replaced it"));
  const core::MutexLock lock(written_.names());
  if (auto own = check_own_locked(location, path, now); !own) {
    written_.refuse_below(path);
    return tl::unexpected(std::move(own.error()));
  }
  const bool is_usable = (now.st_mode & S_IRWXU) == S_IRWXU;
  if (!is_usable && path != "." && now.st_uid == ::geteuid())
    UDTCAT_CHECK(of_name(set_mode(opened, (now.st_mode & kModeBits) | S_IRWXU, location.shown())));
  written_.add(now, location.birth(), path);
  written_.add_file_system(now.st_dev, opened);
  if (path != ".") std::ignore = enter(path + "/.");  // finds its traits while there are folders of parts
  return now;
}

/// Keeps a link, a FIFO or a device that is there already, and gives it the attributes.
/// returns  false: something else is there, or nothing
NameResult<bool> Destination::take_as_it_is(const Entry& entry, const files::FileLocation& location) {
  UDTCAT_TRY(const auto status, location.look());
  if (!status || (status->st_mode & S_IFMT) != format_of(entry.kind)) return false;
  UDTCAT_TRY(const auto opened, location.open(O_PATH, Errc::local_write_failed));
  struct stat now {};
  if (::fstat(opened.number(), &now) != 0 || !is_same_file(now, *status)) return false;
  const bool is_device = entry.kind == EntryKind::character_device || entry.kind == EntryKind::block_device;
  if (is_device && now.st_rdev != makedev(entry.major, entry.minor)) return false;
  if (entry.kind == EntryKind::symbolic_link) {
    UDTCAT_TRY(const std::string target, files::read_target_of(opened, location.shown()));
    if (target != entry.target) return false;
  }
  UDTCAT_CHECK(set_attributes_of(opened, entry, false));
  UDTCAT_CHECK(hold(entry.path, now));
  return true;
}

Status Destination::make_part(const Entry& entry, const files::FileLocation& part) const {
  part.remove();
  if (entry.kind == EntryKind::symbolic_link) return part.make_symbolic_link(entry.target);
  return part.make_node(format_of(entry.kind).value() | kUnfinishedMode, makedev(entry.major, entry.minor));
}

ScopedStatus Destination::make(const Entry& entry) {
  UDTCAT_TRY(const auto location, locate(entry.path));
  UDTCAT_TRY(const auto there, of_name(location.look()));
  if (there) UDTCAT_CHECK(check_own(entry.path, *there));
  UDTCAT_TRY(const bool is_so, take_as_it_is(entry, location));
  if (is_so) return {};
  UDTCAT_CHECK(check_place(entry.path, there));
  UDTCAT_TRY(const auto reservation, charge_name(entry));
  UDTCAT_TRY(const auto folder, folder_of(entry.path));
  const auto part = folder.of(entry.path);
  UDTCAT_CHECK(of_name(make_part(entry, part)));
  UDTCAT_TRY(const auto opened, of_name(part.open(O_PATH, Errc::local_write_failed)));
  UDTCAT_CHECK(set_attributes_of(opened, entry, true));
  struct stat made {};
  if (::fstat(opened.number(), &made) != 0)
    return of_name(core::fail_by_errno(Errc::local_write_failed, "make " + location.shown()));
  UDTCAT_CHECK(publish(entry.path, made));
  return {};
}

ScopedStatus Destination::make_hard_link(const std::string& path, const std::string& of, const struct stat& file) {
  UDTCAT_TRY(const auto original, locate(of));
  UDTCAT_TRY(const auto location, locate(path));
  UDTCAT_TRY(const auto original_status, of_name(original.look()));
  UDTCAT_TRY(const auto status, of_name(location.look()));
  if (!original_status || !is_same_content(*original_status, file))
    return of_name(fail(Errc::local_write_failed, "link " + location.shown(),
                        original.shown() + " is not there, or is another file by now"));
  if (status && is_same_file(*status, *original_status)) {
    if (!is_listed(location, path))
      return of_name(fail(Errc::local_write_failed, "link " + location.shown(),
                          "its name is the same as that of " + original.shown() + " here"));
    return {};
  }
  UDTCAT_CHECK(check_place(path, status));
  UDTCAT_TRY(const auto reservation, write_budget().charge_name(0, path));
  UDTCAT_TRY(const auto folder, folder_of(path));
  const auto part = folder.of(path);
  part.remove();
  if (const auto linked = part.make_hard_link(original); !linked) {
    written_.lose(original_status->st_dev, location.shown(), {{"hard link", linked.error().cause}});
    UDTCAT_CHECK(copy(original, path));
  }
  UDTCAT_TRY(const auto made, of_name(part.look()));
  if (!made) return of_name(fail(Errc::local_write_failed, "link " + location.shown(), "its part is gone"));
  UDTCAT_CHECK(publish(path, *made));
  return {};
}

/// path   of what is written
ScopedStatus Destination::copy_content(const bridge::Descriptor& from, const bridge::Descriptor& to,
                                       const std::string& path) {
  const std::string shown = tree().shown(path);
  std::vector<std::byte> chunk(kChunkBytes);
  for (std::size_t got = chunk.size(); got == chunk.size();) {
    UDTCAT_CHECK(check_not_over(path));
    UDTCAT_TRY(got, of_name(files::read_whole(from, chunk, shown)));
    UDTCAT_CHECK(of_name(files::write_whole(to, std::span(chunk).first(got), shown)));
  }
  return {};
}

/// Copies a file where the file system makes no hard links.
ScopedStatus Destination::copy(const files::FileLocation& original, const std::string& path) {
  UDTCAT_TRY(const auto from, of_name(original.open(O_RDONLY, Errc::local_read_failed)));
  UDTCAT_TRY(const auto folder, folder_of(path));
  UDTCAT_TRY(auto to, of_name(folder.take(path)));
  if (::ftruncate(to.number(), 0) != 0)  // an older part that could not be removed
    return of_name(core::fail_by_errno(Errc::local_write_failed, "write " + tree().shown(path)));
  struct stat status {};
  if (::fstat(from.number(), &status) != 0)
    return of_name(core::fail_by_errno(Errc::local_read_failed, "copy " + original.shown()));
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  UDTCAT_CHECK(write_budget().charge(bytes, path));
  UDTCAT_TRY(const auto growth, write_budget().reserve(bytes, path));
  UDTCAT_CHECK(copy_content(from, to, path));
  UDTCAT_TRY(const auto attributes, of_name(read_attributes(original, status)));
  UDTCAT_CHECK(give(to, attributes, path, true));
  struct stat now {};
  const bool is_same = ::fstat(from.number(), &now) == 0 && is_same_state(now, status);
  if (!is_same)
    return of_name(fail(Errc::local_read_failed, "copy " + original.shown(), "somebody else is writing it"));
  if (const auto error = ::fsync(to.number()) != 0 ? bridge::last_error() : to.close())
    return of_name(fail(Errc::local_write_failed, "write " + tree().shown(path), error.message()));
  return {};
}

/// path   of what is open
NameStatus Destination::give(const bridge::Descriptor& opened, const Attributes& attributes, const std::string& path,
                             bool is_new) {
  UDTCAT_TRY(const auto kept, attribute_traits(path));
  UDTCAT_TRY(const auto losses, write_attributes(opened, attributes, kept, is_new, tree().shown(path)));
  if (losses.empty()) return {};
  struct stat status {};
  std::ignore = ::fstat(opened.number(), &status);  // it has just been looked at
  written_.lose(status.st_dev, tree().shown(path), losses);
  return {};
}

NameStatus Destination::set_attributes_of(const bridge::Descriptor& opened, const Entry& entry, bool is_new) {
  return give(opened, entry.attributes, entry.path, is_new);
}

std::uint32_t Destination::mode_to_give(const std::string& path, std::uint32_t wanted, dev_t device) {
  constexpr std::uint32_t kLists = S_IRUSR | S_IXUSR;
  const bool can_list = (wanted & kLists) == kLists || ::geteuid() == 0;
  if (can_list || !write_budget().has_directory_limit()) return wanted;
  const std::uint32_t given = wanted | kLists;
  written_.lose(device, tree().shown(path),
                {{"mode", fmt::format("it is {:04o} there, not {:04o}, as what is in it counts (limit=), and has to be "
                                      "listed for that",
                                      given, wanted)}});
  return given;
}

NameStatus Destination::set_directory(const std::string& path, const Attributes& attributes, const struct stat& made) {
  UDTCAT_TRY(const auto location, locate(path));
  UDTCAT_TRY(const auto opened, location.open(O_PATH | O_DIRECTORY, Errc::local_write_failed));
  struct stat now {};
  if (::fstat(opened.number(), &now) != 0 || !is_same_file(now, made))
    return fail(Errc::local_write_failed, "set the attributes of " + location.shown(),
                "another directory has taken its place");
  UDTCAT_CHECK(sync_names(opened, location.shown()));
  return give(opened, attributes, path, false);
}

Status Destination::sync() {
  UDTCAT_CHECK(written_.sync(tree().shown(".")));
  UDTCAT_TRY(const auto top, tree().enter("", Errc::local_write_failed));
  return sync_names(*top, tree().shown("."));
}

/// Syncs the names in a directory, where syncfs(2) of its file system may not.
Status Destination::sync_names(const bridge::Descriptor& directory, const std::string& shown) const {
  struct stat status {};
  if (::fstat(directory.number(), &status) != 0) return core::fail_by_errno(Errc::local_write_failed, "store " + shown);
  if (obeys_syncfs(status.st_dev)) return {};
  if (const auto error = bridge::sync_names(directory.number(), "."))
    return fail(Errc::local_write_failed, "store " + shown, core::errno_text(error.value()));
  return {};
}

NameResult<bool> Destination::has_attributes(const struct stat& status, const Entry& entry) {
  UDTCAT_TRY(const auto kept, attribute_traits(entry.path));
  return trees::has_attributes(status, entry.attributes, kept);
}

bool Destination::obeys_syncfs(dev_t device) const {
  const auto traits = parts_.traits_on(device);
  return traits && traits->obeys_syncfs;
}

NameStatus Destination::check_own(const std::string& path, const struct stat& there) {
  UDTCAT_TRY(const auto location, locate(path));
  const core::MutexLock lock(written_.names());
  return check_own_locked(location, path, there);
}

NameStatus Destination::check_own_locked(const files::FileLocation& location, const std::string& path,
                                         const struct stat& there) {
  const auto refused = [&](const char* cause) {
    return fail(Errc::local_write_failed, "write " + location.shown(), cause);
  };
  if (written_.is_below_refused(path)) return refused("the directory that it is in is missing");
  if (written_.has(there, location.birth(), path, [&] { return location.is_listed(); }))
    return refused("what stands there came by another name of this transfer, which is the same here");
  const auto traits = parts_.traits_on(there.st_dev);
  if (path == "." || !traits || !traits->folds_names || traits->folds_into_inodes || is_listed(location, path))
    return {};
  return refused("it stands there in another spelling, which is the same on this file system");
}

/// Whether a name that is there has this very spelling. The names of a directory are read once, and again for one
/// that is not among them.
bool Destination::is_listed(const files::FileLocation& location, const std::string& path) {
  const std::string directory = above(path);
  const std::string name = path.substr(directory.empty() ? 0 : directory.size() + 1);
  for (const bool is_fresh : {false, true}) {
    if (is_fresh || !listed_ || listed_->path != directory) {
      auto names = location.names_beside();
      if (!names) return true;  // a directory that may not be listed is taken to have it
      listed_ = Listed{directory, std::move(*names)};
    }
    if (std::ranges::binary_search(listed_->names, name)) return true;
  }
  return false;
}

NameResult<struct stat> Destination::hold(const std::string& path, const struct stat& file) {
  UDTCAT_TRY(const auto location, locate(path));
  const core::MutexLock lock(written_.names());
  UDTCAT_TRY(const auto now, location.look());
  if (!now || !is_same_file(*now, file))
    return fail(Errc::local_write_failed, "keep " + location.shown(), "somebody else has replaced it");
  if (S_ISREG(file.st_mode) && now->st_size != file.st_size)
    return fail(Errc::local_write_failed, "keep " + location.shown(), "somebody else is writing it");
  UDTCAT_CHECK(check_own_locked(location, path, *now));
  written_.add(*now, location.birth(), path);
  return *now;
}

NameResult<struct stat> Destination::publish(const std::string& path, const struct stat& whole) {
  UDTCAT_TRY(const auto location, locate(path));
  UDTCAT_TRY(const auto folder, folder_of(path));
  const auto part = folder.of(path);
  const core::MutexLock lock(written_.names());
  UDTCAT_TRY(const auto waiting, part.look());
  if (!waiting || !is_same_content(*waiting, whole))
    return fail(Errc::local_write_failed, "put in place " + location.shown(), "somebody else has written its part");
  UDTCAT_TRY(const auto there, location.look());
  if (there) UDTCAT_CHECK(check_own_locked(location, path, *there));
  if (auto renamed = write_budget().rename(part, location); !renamed) {
    parts_.keep(path);
    return tl::unexpected(std::move(renamed.error()));
  }
  UDTCAT_TRY(const auto now, location.look());
  if (!now || !is_same_content(*now, *waiting))
    return fail(Errc::local_write_failed, "put in place " + location.shown(), "somebody else has replaced it");
  written_.add(*now, location.birth(), path);
  return *now;
}

}  // namespace udtcat::trees
