// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/partial_files.hpp"

#include <cerrno>
#include <optional>
#include <span>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/sha256.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/attributes.hpp"

namespace udtcat::trees {

namespace {

constexpr mode_t kOwnDirectoryMode = 0700;        // spec: docs/spec/trees.md §5
constexpr mode_t kPartMode = 0600;                // spec: docs/spec/trees.md §5: its own mode comes when it is whole
constexpr int kPartsNames = 11;                   // guess: .udtcat-parts, -UID, and -UID-1 to -UID-9
constexpr int kMaxRemovals = 100;                 // guess: other transfers' ends that come in between
constexpr int kLooksToTell = 10;                  // guess: most transfers end within a second
constexpr const char* kLockName = "lock";         // custom
constexpr const char* kSquashProbeName = "mine";  // custom

tl::unexpected<Error> no_place(const std::string& shown, std::string cause) {
  return fail(Errc::local_write_failed, "keep parts of files in " + shown, std::move(cause));
}

/// The name of a part: 64 characters, whatever the path is.
std::string name_of(const std::string& path) {
  return files::to_hex(files::digest_of({std::as_bytes(std::span(path))}));
}

std::string nth_parts_name(int number) {
  if (number == 0) return kPartsName;
  const std::string own = fmt::format("{}-{}", kPartsName, ::geteuid());
  return number == 1 ? own : fmt::format("{}-{}", own, number - 1);
}

/// Whether a file that this account makes in a directory has the owner that the directory shows: some file systems show
/// one owner for all.
bool shows_one_owner(const bridge::Descriptor& directory, uid_t owner) {
  std::ignore = ::unlinkat(directory.number(), kSquashProbeName, 0);  // left by a process that was killed
  const bridge::Descriptor file(
      ::openat(directory.number(), kSquashProbeName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPartMode));
  struct stat status {};
  const bool is_shown = file.is_open() && ::fstat(file.number(), &status) == 0 && status.st_uid == owner;
  if (file.is_open()) std::ignore = ::unlinkat(directory.number(), kSquashProbeName, 0);
  return is_shown;
}

/// Whether nobody else can write to a directory, as far as its file system tells.  none: errno says why not
std::optional<bool> is_private(const bridge::Descriptor& directory, bool is_new) {
  constexpr mode_t kWrittenByOthers = S_IWGRP | S_IWOTH;
  struct stat status {};
  if (::fstat(directory.number(), &status) != 0) return std::nullopt;
  if (status.st_uid != ::geteuid() && !is_new && !shows_one_owner(directory, status.st_uid)) return false;
  if ((status.st_mode & kWrittenByOthers) == 0) return true;
  // A file system that keeps no modes shows one for all of its files.
  const bool is_refused = ::fchmod(directory.number(), kOwnDirectoryMode) != 0;
  struct stat now {};
  if (::fstat(directory.number(), &now) != 0) return std::nullopt;
  if (is_new && (now.st_mode & kWrittenByOthers) == 0) return true;
  const bool keeps_none = now.st_mode == status.st_mode;
  if (!is_refused && !keeps_none) std::ignore = ::fchmod(directory.number(), status.st_mode & kModeBits);
  return keeps_none;
}

struct OwnDirectory {
  bridge::Descriptor opened;
  bool is_somebody_elses = false;  ///< then another name may do
};

/// A directory that nobody else can write to, made where it is not there.
Result<OwnDirectory> open_own_directory(const bridge::Descriptor& above, const std::string& name,
                                        const std::string& shown) {
  for (int removals = 0; removals < kMaxRemovals; ++removals) {
    const bool is_new = ::mkdirat(above.number(), name.c_str(), kOwnDirectoryMode) == 0;
    if (!is_new && errno != EEXIST) return no_place(shown, core::errno_text(errno));
    OwnDirectory own{
        bridge::Descriptor(::openat(above.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))};
    // Another transfer that has just ended may have removed it.
    if (!own.opened.is_open() && errno == ENOENT) continue;
    if (!own.opened.is_open() && is_new) return no_place(shown, core::errno_text(errno));
    if (own.opened.is_open()) {
      const auto is_own = is_private(own.opened, is_new);
      const int error = errno;
      if (!is_own && is_new) std::ignore = ::unlinkat(above.number(), name.c_str(), AT_REMOVEDIR);
      if (!is_own) return no_place(shown, core::errno_text(error));
      own.is_somebody_elses = !*is_own;
    } else {
      own.is_somebody_elses = true;
    }
    return own;
  }
  return no_place(shown, "other transfers remove it again and again");
}

enum class Locked { yes, no, held };

/// flock(2) where the file system has it, else a lock of fcntl(2), else none: two processes that do the same at the
/// same time on such a file system are not told apart. errors: Errc::local_write_failed
Result<Locked> lock_directory(const bridge::Descriptor& directory, const std::string& shown, bridge::Descriptor& lock) {
  int result = 0;
  do result = ::flock(directory.number(), LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result == 0) return Locked::yes;
  if (errno == EWOULDBLOCK) return Locked::held;
  const int error = errno;
  // ENOLCK of this host's own disk is a want of memory: another process may hold flock(2)'s lock.
  const bool lacks_locks = error == ENOLCK && !is_of_this_host(directory);
  if (!lacks_locks && error != ENOSYS && error != EOPNOTSUPP && error != EINVAL)
    return core::fail_by_errno(Errc::local_write_failed, "lock " + shown, error);
  lock =
      bridge::Descriptor(::openat(directory.number(), kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kPartMode));
  if (!lock.is_open()) return core::fail_by_errno(Errc::local_write_failed, "lock " + shown);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  do result = ::fcntl(lock.number(), F_OFD_SETLK, &whole);
  while (result != 0 && errno == EINTR);
  if (result == 0) return Locked::yes;
  if (errno == EWOULDBLOCK || errno == EACCES) return Locked::held;
  core::log().info("{} has no locks: two processes that receive the same there are not told apart", shown);
  return Locked::no;
}

}  // namespace

Result<PartsFolder> PartsFolder::open(const files::FileTree& tree, const std::string& path, const std::string& job) {
  PartsFolder folder(tree);
  folder.job_ = job;
  UDTCAT_TRY(folder.directory_, tree.enter(path, Errc::local_write_failed));
  int removals = 0;
  for (int number = 0; number < kPartsNames; ++number) {
    folder.all_name_ = nth_parts_name(number);
    const std::string shown = tree.shown(path.empty() ? folder.all_name_ : path + '/' + folder.all_name_);
    UDTCAT_TRY(auto all, open_own_directory(*folder.directory_, folder.all_name_, shown));
    if (all.is_somebody_elses) continue;
    auto own = open_own_directory(all.opened, job, shown + '/' + job);
    // Another transfer that has just ended may have removed the folder above.
    struct stat status {};
    if (!own && ::fstat(all.opened.number(), &status) == 0 && status.st_nlink == 0) {
      if (++removals == kMaxRemovals) return no_place(shown, "other transfers remove it again and again");
      --number;
      continue;
    }
    if (!own) return tl::unexpected(std::move(own.error()));
    if (own->is_somebody_elses) continue;
    folder.all_ = std::make_shared<const bridge::Descriptor>(std::move(all.opened));
    folder.own_ = std::make_shared<const bridge::Descriptor>(std::move(own->opened));
    return folder;
  }
  return no_place(tree.shown(path.empty() ? "." : path),
                  fmt::format("{} and the {} names after it are somebody else's", kPartsName, kPartsNames - 1));
}

files::FileLocation PartsFolder::of(const std::string& path) const { return {own_, name_of(path), tree_.shown(path)}; }

/// Removes a link or a device that a cut transfer has left, and makes a file writable that has its final mode already.
void PartsFolder::make_usable(const std::string& path) const {
  const auto part = of(path).open(O_PATH, Errc::local_write_failed);
  struct stat status {};
  if (!part || ::fstat(part->number(), &status) != 0) return;  // take() reports it
  if (!S_ISREG(status.st_mode) || status.st_nlink != 1) return of(path).remove();
  if ((status.st_mode & kPartMode) != kPartMode) std::ignore = set_mode(*part, kPartMode, path);  // likewise
}

Result<bridge::Descriptor> PartsFolder::take(const std::string& path) const {
  make_usable(path);
  const files::FileLocation location = of(path);
  bridge::Descriptor part(::openat(own_->number(), name_of(path).c_str(),
                                   O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kPartMode));
  struct stat status {};
  if (!part.is_open() || ::fstat(part.number(), &status) != 0)
    return core::fail_by_errno(Errc::local_write_failed, "write " + location.shown());
  if (S_ISREG(status.st_mode) && status.st_nlink == 1) return part;
  return fail(Errc::local_write_failed, "write " + location.shown(), "its part is no file");
}

void PartsFolder::remove(const std::set<std::string>& kept) const {
  std::set<std::string> kept_names;
  for (const std::string& path : kept) kept_names.insert(name_of(path));
  bridge::Descriptor listed(::openat(own_->number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const std::string& name : files::names_in(std::move(listed)).value_or(std::vector<std::string>()))
    if (!kept_names.contains(name)) std::ignore = ::unlinkat(own_->number(), name.c_str(), 0);
  tidy();
}

void PartsFolder::tidy() const {
  std::ignore = ::unlinkat(all_->number(), job_.c_str(), AT_REMOVEDIR);
  // It stays while other transfers have parts in it.
  std::ignore = ::unlinkat(directory_->number(), all_name_.c_str(), AT_REMOVEDIR);
}

Result<PartialFiles> PartialFiles::open(const files::FileTree& tree, const std::string& job,
                                        const std::function<bool()>& waits) {
  for (int looks = 1;; ++looks) {
    UDTCAT_TRY(auto top, PartsFolder::open(tree, "", job));
    bridge::Descriptor lock;
    UDTCAT_TRY(const auto locked, lock_directory(top.descriptor(), tree.shown(kPartsName), lock));
    if (locked == Locked::held) {
      if (!waits || !waits())  // flock(2) cannot be told to look at anything else
        return fail(Errc::out_of_resources, "receive into " + tree.shown("."),
                    "the same transfer is under way in another process");
      if (looks == kLooksToTell)
        core::log().warn("{}: waits for the transfer of the same name that ends in another process", tree.shown("."));
      continue;
    }
    // The process that held it may have removed the folder at its end.
    struct stat now {};
    if (::fstat(top.descriptor().number(), &now) == 0 && now.st_nlink == 0) continue;
    top.find_traits();
    auto state = std::make_shared<State>(tree, std::move(top), job);
    state->lock = std::move(lock);
    const core::MutexLock locked_state(state->mutex);
    state->traits[state->of_top.device] = state->top.traits();
    return PartialFiles(std::move(state));
  }
}

std::optional<FileSystemTraits> PartialFiles::traits_on(dev_t device) const {
  const core::MutexLock lock(state_->mutex);
  const auto found = state_->traits.find(device);
  return found != state_->traits.end() ? std::optional(found->second) : std::nullopt;
}

Result<PartsFolder> PartialFiles::folder_for(const std::string& path) const {
  const core::MutexLock lock(state_->mutex);
  if (path.empty() || state_->like_top.contains(path)) return state_->top;
  UDTCAT_TRY(const auto directory, state_->tree.enter(path, Errc::local_write_failed));
  const DirectoryContext wanted = directory_context_of(*directory);
  if (wanted == state_->of_top) {
    if (state_->like_top.size() == kMaxAsked) state_->like_top.clear();
    state_->like_top.insert(path);
    return state_->top;
  }
  UDTCAT_TRY(const std::string place, place_of(path, wanted));
  const auto found = state_->open.find(place);
  if (found != state_->open.end()) return found->second;
  if (state_->places.size() == kMaxPlaces)
    return no_place(state_->tree.shown(place), fmt::format("there are {} such places already", kMaxPlaces));
  UDTCAT_TRY(auto folder, PartsFolder::open(state_->tree, place, state_->job));
  folder.find_traits();
  state_->traits[wanted.device] = folder.traits();
  state_->places.insert(place);
  if (state_->open.size() == kMaxOpen) state_->open.clear();
  return state_->open.emplace(place, std::move(folder)).first->second;
}

/// The topmost directory from `path` up with the same context, where a later transfer finds the parts again.
Result<std::string> PartialFiles::place_of(const std::string& path, const DirectoryContext& wanted) const {
  std::string place = path;
  for (auto slash = place.rfind('/'); slash != std::string::npos; slash = place.rfind('/')) {
    std::string above = place.substr(0, slash);
    UDTCAT_TRY(const auto directory, state_->tree.enter(above, Errc::local_write_failed));
    if (directory_context_of(*directory) != wanted) break;
    place = std::move(above);
  }
  return place;
}

void PartialFiles::keep(const std::string& path) const {
  const core::MutexLock lock(state_->mutex);
  state_->kept.insert(path);
}

/// act   is given each folder, and the paths whose parts are kept
template <typename Act>
void PartialFiles::for_each_folder(Act act) const {
  const core::MutexLock lock(state_->mutex);
  for (const std::string& place : state_->places)  // one that somebody has taken away is gone with all that was in it
    if (const auto folder = PartsFolder::open(state_->tree, place, state_->job)) act(*folder, state_->kept);
  act(state_->top, state_->kept);
}

void PartialFiles::remove() const {
  for_each_folder([](const PartsFolder& folder, const std::set<std::string>& kept) { folder.remove(kept); });
}

void PartialFiles::tidy() const {
  for_each_folder([](const PartsFolder& folder, const std::set<std::string>& /*kept*/) { folder.tidy(); });
}

}  // namespace udtcat::trees
