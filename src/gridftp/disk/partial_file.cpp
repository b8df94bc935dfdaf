// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/partial_file.hpp"

#include <atomic>
#include <cerrno>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "files/part_names.hpp"
#include "lib/core/log.hpp"
#include "lib/core/mutex.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::gridftp {

namespace {

constexpr int kMostNames = 9;  // guess: a user who has more of them means it

PartialFile names_of(const files::FileLocation& file, int number) {
  const std::string suffix = number == 1 ? files::kPartialSuffix : fmt::format("{}~{}", files::kPartialSuffix, number);
  return {file.with_suffix(suffix), file.with_suffix(suffix + files::kJournalSuffix)};
}

bool is_ours(const PartialFile& names) {
  if (!names.part.is_only_name()) return false;
  if (RestartJournal::proves(names.journal, names.part.birth())) return true;
  // A process that was killed before it wrote its journal leaves this; a user's has nothing to lose.
  return names.part.size() == 0 && RestartJournal::may_be_at(names.journal);
}

/// Files that this process writes, for file systems that have no locks.
class WriteLocks {
 public:
  /// none: another has it
  static std::shared_ptr<void> take(const bridge::Descriptor& descriptor) {
    struct stat status {};
    if (::fstat(descriptor.number(), &status) != 0) return nullptr;
    const std::pair<dev_t, ino_t> file(status.st_dev, status.st_ino);
    static WriteLocks turns;
    const core::MutexLock lock(turns.mutex_);
    if (!turns.taken_.insert(file).second) return nullptr;
    return {&turns, [file](WriteLocks* from) {
              const core::MutexLock again(from->mutex_);
              from->taken_.erase(file);
            }};
  }

 private:
  core::Mutex mutex_;
  std::set<std::pair<dev_t, ino_t>> taken_ UDTCAT_GUARDED_BY(mutex_);
};

tl::unexpected<Error> taken_by_another(const files::FileLocation& file) {
  return fail(Errc::out_of_resources, "write " + file.shown(), "another transfer is writing it");
}

/// Where the file system has no locks, only the transfers of this process are told from each other.
Result<std::shared_ptr<void>> lock(const files::FileLocation& file, const bridge::Descriptor& descriptor) {
  int error = 0;
  do error = ::flock(descriptor.number(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  while (error == EINTR);
  if (error == EWOULDBLOCK) return taken_by_another(file);
  const bool has_none = error == ENOSYS || error == ENOLCK || error == EOPNOTSUPP;
  if (error != 0 && !has_none)
    return fail(Errc::local_write_failed, "lock the beginning of " + file.shown(), core::errno_text(error));
  static std::atomic<bool> said = false;
  if (has_none && !said.exchange(true))
    core::log().warn("lock {}: {}; going on without: two programs that write one file there do not know of each other",
                     core::printable(file.shown(), core::kShownBytes), core::errno_text(error));
  auto turn = WriteLocks::take(descriptor);
  if (!turn) return taken_by_another(file);
  return turn;
}

/// none: it is not ours after all, or not to be opened
Result<std::optional<OpenPartialFile>> open_ours(const files::FileLocation& file, PartialFile names) {
  auto descriptor = names.part.open(O_WRONLY | O_NOFOLLOW, Errc::local_write_failed);
  if (!descriptor) {
    const int error = descriptor.error().errno_value;
    const bool is_of_host = error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
    if (is_of_host) return tl::unexpected(std::move(descriptor.error()));
    return std::nullopt;
  }
  UDTCAT_TRY(auto turn, lock(file, *descriptor));
  // Another transfer may have given it its name between open() and flock(): then the descriptor is a whole file.
  if (!names.part.names(*descriptor) || !is_ours(names)) return std::nullopt;
  return OpenPartialFile{std::move(names), std::move(*descriptor), std::move(turn)};
}

/// none: something has the name
Result<std::optional<OpenPartialFile>> make_new(const files::FileLocation& file, PartialFile names) {
  if (!RestartJournal::may_be_at(names.journal)) return std::nullopt;
  UDTCAT_TRY(auto made, names.part.make_file(O_WRONLY));
  if (!made) return std::nullopt;
  auto turn = lock(file, *made);
  const Status begun = turn ? names.journal_of("-").begin() : tl::unexpected(turn.error());
  if (!begun) {
    const bool is_anothers =
        begun.error().code == Errc::out_of_resources;  // which has opened it as soon as it was made
    if (!is_anothers) names.part.remove();
    return tl::unexpected(begun.error());
  }
  return OpenPartialFile{std::move(names), std::move(*made), std::move(*turn)};
}

}  // namespace

const char* kind_in_words(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a named pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

std::optional<PartialFile> find_partial_file(const files::FileLocation& file) {
  for (int number = 1; number <= kMostNames; ++number)
    if (auto names = names_of(file, number); is_ours(names)) return names;
  return std::nullopt;
}

Result<OpenPartialFile> open_partial_file(const files::FileLocation& file) {
  for (int number = 1; number <= kMostNames; ++number) {
    const PartialFile names = names_of(file, number);
    if (!is_ours(names)) continue;
    UDTCAT_TRY(auto opened, open_ours(file, names));
    if (opened) return std::move(*opened);
  }
  const files::FileLocation first = names_of(file, 1).part;
  UDTCAT_TRY(const auto there, first.look_at_name());
  if (there && !S_ISREG(there->st_mode))
    return fail(Errc::local_write_failed, "write " + file.shown(),
                fmt::format("{}, where its beginning goes, is {}", first.shown(), kind_in_words(there->st_mode)));
  for (int number = 1; number <= kMostNames; ++number) {
    UDTCAT_TRY(auto made, make_new(file, names_of(file, number)));
    if (!made) continue;
    if (number > 1)
      core::log().info("{} is not this program's: the file comes in {}",
                       core::printable(first.shown(), core::kShownBytes),
                       core::printable(made->names.part.shown(), core::kShownBytes));
    return std::move(*made);
  }
  return fail(Errc::local_write_failed, "write " + file.shown(),
              fmt::format("{} to {} are there, and not this program's: one has to make room", first.shown(),
                          names_of(file, kMostNames).part.shown()));
}

}  // namespace udtcat::gridftp
