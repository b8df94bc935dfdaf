// SPDX-License-Identifier: Apache-2.0
#include "files/directory_use.hpp"

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr std::chrono::milliseconds kLookWhetherOver{250};  // guess: a transfer that is cut ends as soon
constexpr int kMaxLooks = 100;                              // guess: no name is replaced at each of a hundred looks

std::string day_text(std::time_t time) {
  std::tm date{};
  return ::gmtime_r(&time, &date) != nullptr ? fmt::format("{:%Y-%m-%d}", date) : "unknown";
}

}  // namespace

// ---- Counting ------------------------------------------------------------------------------------------------------

void DirectoryUse::begin_walk() {
  unseen_ = reserved_bytes_;
  is_moved_ = moving_directories_ > 0;
}

Status DirectoryUse::start_counting() {
  const auto threads = threads_.lock();
  if (!threads) return fail(Errc::interrupted, "count what is in " + tree_.shown("."), "the listener ends");
  UDTCAT_CHECK(threads->give([weak = weak_from_this()](const std::atomic<bool>& is_over) {
    if (const auto use = weak.lock()) use->run_count(is_over);
  }));
  is_counting_ = true;
  begin_walk();
  return {};
}

/// As often as directories are moved meanwhile: what was in one may have been seen at neither place.
void DirectoryUse::run_count(const std::atomic<bool>& is_over) {
  const auto began = Clock::now();
  for (int walks = 1;; ++walks) {
    auto counted = count_directory(tree_, [&] { return !is_over; });
    const core::MutexLock lock(mutex_);
    const bool is_stale = counted && is_moved_;
    if (!is_stale || walks == kMaxWalks) {
      if (is_stale)
        counted = fail(Errc::local_read_failed, "list " + tree_.shown("."), "directories are moved there meanwhile");
      return end_count(counted, Clock::now() - began);
    }
    begin_walk();
  }
}

void DirectoryUse::end_count(const Result<DirectoryCount>& counted, Clock::duration took) {
  is_counting_ = false;
  ++counts_;
  last_ = Status();
  if (counted) {
    found_ = *counted;
    used_ = sum_of(found_.bytes, unseen_);
    for (const auto& [file, opened] : open_) used_ = sum_of(used_, opened.gone_bytes);
  } else {
    const Error& why = counted.error();
    last_ = tl::unexpected(Error{why.code, "count what is in " + tree_.shown("."), why.message(), why.errno_value});
  }
  next_count_ = Clock::now() + took;
  const auto kept = kept_.lock();
  if (kept && !kept->ended_) kept->ended_ = last_;
  if (!kept && last_) unasked_until_ = Clock::now() + kKeptUnasked;
  counted_.notify_all();
}

std::shared_ptr<DirectoryUse::Count> DirectoryUse::begin_count() {
  const core::MutexLock lock(mutex_);
  auto count = kept_.lock();
  if (count && (!count->ended_ || *count->ended_)) return count;
  kept_ = count = std::make_shared<Count>();
  if (is_counting_) return count;
  if (Clock::now() < unasked_until_) {
    count->ended_ = Status();
    return count;
  }
  if (auto begun = start_counting(); !begun) count->ended_ = std::move(begun);
  return count;
}

std::optional<Status> DirectoryUse::result_of(const Count& count) {
  const core::MutexLock lock(mutex_);
  return count.ended_;
}

bool DirectoryUse::is_wanted() {
  const core::MutexLock lock(mutex_);
  return is_counting_ || Clock::now() < unasked_until_;
}

std::uint64_t DirectoryUse::used() {
  const core::MutexLock lock(mutex_);
  return used_;
}

Status DirectoryUse::wait_a_while(const std::function<bool()>& is_over) {
  if (is_over && is_over())
    return fail(Errc::interrupted, "count what is in " + tree_.shown("."), "the transfer is over");
  const auto pause = std::chrono::ceil<std::chrono::milliseconds>(next_count_ - Clock::now());
  std::ignore = counted_.wait_for(mutex_, is_counting_ ? kLookWhetherOver : std::min(kLookWhetherOver, pause));
  return {};
}

Status DirectoryUse::wait(const Count& count, const std::function<bool()>& is_over) {
  const core::MutexLock lock(mutex_);
  while (!count.ended_) UDTCAT_CHECK(wait_a_while(is_over));
  return {};
}

Status DirectoryUse::wait(const std::function<bool()>& is_over) {
  const core::MutexLock lock(mutex_);
  while (is_counting_ || Clock::now() < next_count_) UDTCAT_CHECK(wait_a_while(is_over));
  return {};
}

// ---- What is written -----------------------------------------------------------------------------------------------

Error DirectoryUse::refusal(const Want& wanted) {
  std::string has = core::format_size(used_);
  if (found_.part_bytes > 0)
    has += fmt::format(
        ", of which {} in parts of files that have not come whole, the oldest of {}: the commands that "
        "were cut, given again, go on with them, or they can be removed there (.udtcat-parts, NAME.part)",
        core::format_size(found_.part_bytes), day_text(found_.oldest_part.value_or(0)));
  return {Errc::stream_refused, wanted.what,
          fmt::format("{} may have {} here at most (limit=), and has {}", wanted.peer,
                      core::format_size(wanted.limit_bytes), has),
          EDQUOT};
}

Result<std::optional<DirectoryUse::Reservation>> DirectoryUse::reserve(const Want& wanted, CountNumber& asked,
                                                                       const OpenFile* file) {
  const core::MutexLock lock(mutex_);
  const std::uint64_t bytes = wanted.bytes;
  if (bytes <= wanted.limit_bytes && used_ <= wanted.limit_bytes - bytes) {
    used_ += bytes;
    reserved_bytes_ += bytes;
    if (is_counting_) unseen_ = sum_of(unseen_, bytes);
    const auto opened = file != nullptr ? open_.find(file->file_) : open_.end();
    if (opened != open_.end() && opened->second.is_gone) opened->second.gone_bytes += bytes;
    return Reservation(shared_from_this(), bytes);
  }
  if (!asked) asked = counts_ + (is_counting_ ? 2 : 1);
  if (counts_ >= *asked) return tl::unexpected(last_ ? refusal(wanted) : last_.error());
  if (!is_counting_ && Clock::now() >= next_count_) UDTCAT_CHECK(start_counting());
  return std::nullopt;
}

void DirectoryUse::end_reservation(std::uint64_t bytes) {
  const core::MutexLock lock(mutex_);
  reserved_bytes_ -= bytes;
}

void DirectoryUse::charge(std::uint64_t bytes) {
  const core::MutexLock lock(mutex_);
  used_ = sum_of(used_, bytes);
  if (is_counting_) unseen_ = sum_of(unseen_, bytes);
}

std::uint64_t DirectoryUse::counts_so_far() {
  const core::MutexLock lock(mutex_);
  return counts_;
}

void DirectoryUse::release(std::uint64_t bytes, std::optional<std::uint64_t> since) {
  const core::MutexLock lock(mutex_);
  if (since.value_or(counts_) == counts_) used_ -= std::min(used_, bytes);
}

// ---- Names ---------------------------------------------------------------------------------------------------------

/// Files whose names nobody else here changes meanwhile, so that what is looked at is what goes. Others are not held
/// up: the disk may be slow.
class DirectoryUse::LockedFiles {
 public:
  using Found = std::vector<std::optional<struct stat>>;

  explicit LockedFiles(DirectoryUse& use) : use_(use) {}
  LockedFiles(const LockedFiles&) = delete;
  LockedFiles& operator=(const LockedFiles&) = delete;
  ~LockedFiles() { unlock(); }

  /// Waits until nobody else has one of them.
  void lock(std::set<FileId> files) {
    const core::MutexLock lock(use_.mutex_);
    while (use_.has_locked(files)) use_.unlocked_.wait(use_.mutex_);
    use_.locked_.insert(files.begin(), files.end());
    files_ = std::move(files);
  }
  /// Those that have the names.  errors: Errc::local_read_failed, also where they are others at each look
  [[nodiscard]] Result<Found> lock_at(std::initializer_list<const FileLocation*> names) {
    for (int looks = 0; looks < kMaxLooks; ++looks) {
      UDTCAT_TRY(const Found before, look_at(names));
      lock(ids_of(before));
      UDTCAT_TRY(Found now, look_at(names));  // somebody may have been faster
      if (ids_of(now) == files_) return now;
      unlock();
    }
    return fail(Errc::local_read_failed, "lock " + (*names.begin())->shown(), "its inode number changes at each look");
  }

 private:
  static Result<Found> look_at(std::initializer_list<const FileLocation*> names) {
    Found found;
    for (const FileLocation* name : names) {
      UDTCAT_TRY(const auto status, name->look_at_name());
      found.push_back(status);
    }
    return found;
  }
  static std::set<FileId> ids_of(const Found& found) {
    std::set<FileId> ids;
    for (const auto& each : found)
      if (each) ids.emplace(each->st_dev, each->st_ino);
    return ids;
  }
  void unlock() {
    const core::MutexLock lock(use_.mutex_);
    for (const FileId& each : files_) use_.locked_.erase(each);
    files_.clear();
    use_.unlocked_.notify_all();
  }

  DirectoryUse& use_;
  std::set<FileId> files_;
};

bool DirectoryUse::has_locked(const std::set<FileId>& files) const {
  for (const FileId& each : files)
    if (locked_.contains(each)) return true;
  return false;
}

/// A name that is moved counts, too, where a count is under way or begins.
class DirectoryUse::MovedName {
 public:
  MovedName(DirectoryUse& use, const struct stat& status)
      : use_(use), is_directory_(S_ISDIR(status.st_mode)), bytes_(size_of(status)) {
    const core::MutexLock lock(use_.mutex_);
    use_.reserved_bytes_ += bytes_;
    use_.unseen_ = sum_of(use_.unseen_, bytes_);
    if (!is_directory_) return;
    ++use_.moving_directories_;
    use_.is_moved_ = true;
  }
  MovedName(const MovedName&) = delete;
  MovedName& operator=(const MovedName&) = delete;
  ~MovedName() {
    const core::MutexLock lock(use_.mutex_);
    use_.reserved_bytes_ -= bytes_;
    if (is_directory_) --use_.moving_directories_;
  }

 private:
  /// Whichever of its names is moved.
  static std::uint64_t size_of(const struct stat& status) {
    return kNameBytes + (S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0);
  }

  DirectoryUse& use_;
  const bool is_directory_;
  const std::uint64_t bytes_;
};

Status DirectoryUse::rename(const FileLocation& from, const FileLocation& to) {
  LockedFiles files(*this);
  UDTCAT_TRY(const auto found, files.lock_at({&from, &to}));
  const auto& moved = found.front();
  const auto& replaced = found.back();
  if (!moved) return from.rename_to(to);  // says why not
  const MovedName moving(*this, *moved);
  const std::uint64_t since = counts_so_far();
  UDTCAT_CHECK(from.rename_to(to));
  if (replaced && !is_same_file(*moved, *replaced)) release_name(*replaced, since);  // else both names stay: rename(2)
  return {};
}

Status DirectoryUse::remove(const FileLocation& name, const std::function<Status()>& remove) {
  LockedFiles files(*this);
  UDTCAT_TRY(const auto found, files.lock_at({&name}));
  const std::uint64_t since = counts_so_far();
  UDTCAT_CHECK(remove());
  const auto left = name.look_at_name();
  if (found.front() && left && !*left) release_name(*found.front(), since);
  return {};
}

void DirectoryUse::release_name(const struct stat& status, std::uint64_t since) {
  const std::uint64_t bytes = bytes_of(status);
  {
    const core::MutexLock lock(mutex_);
    const bool is_last = S_ISREG(status.st_mode) && status.st_nlink < 2;
    const auto opened = is_last ? open_.find({status.st_dev, status.st_ino}) : open_.end();
    if (opened != open_.end()) {
      opened->second.is_gone = true;
      opened->second.gone_bytes = bytes;
      if (since != counts_) used_ = sum_of(used_, bytes);
      return;
    }
  }
  release(bytes, since);
}

// ---- Open files ----------------------------------------------------------------------------------------------------

DirectoryUse::OpenFile DirectoryUse::open(const bridge::Descriptor& descriptor) {
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const FileId file{status.st_dev, status.st_ino};
  LockedFiles files(*this);
  files.lock({file});
  if (::fstat(descriptor.number(), &status) != 0) return {};  // whether it has a name by now
  const core::MutexLock lock(mutex_);
  Opened& opened = open_[file];
  ++opened.times;
  if (status.st_nlink == 0 && !opened.is_gone) {  // since it was opened, and given back
    opened.is_gone = true;
    opened.gone_bytes = static_cast<std::uint64_t>(status.st_size);
    used_ = sum_of(used_, opened.gone_bytes);
  }
  return {shared_from_this(), file};
}

void DirectoryUse::close(const FileId& file) {
  const core::MutexLock lock(mutex_);
  const auto opened = open_.find(file);
  if (opened == open_.end() || --opened->second.times > 0) return;
  used_ -= std::min(used_, opened->second.gone_bytes);
  open_.erase(opened);
}

Status rename_in(const std::shared_ptr<DirectoryUse>& use, const FileLocation& from, const FileLocation& to) {
  return use ? use->rename(from, to) : from.rename_to(to);
}

Status remove_in(const std::shared_ptr<DirectoryUse>& use, const FileLocation& name,
                 const std::function<Status()>& remove) {
  return use ? use->remove(name, remove) : remove();
}

void remove_in(const std::shared_ptr<DirectoryUse>& use, const FileLocation& name) {
  std::ignore = remove_in(use, name, [&]() -> Status {
    name.remove();
    return {};
  });
}

// ---- Limits --------------------------------------------------------------------------------------------------------

Status DirectoryLimit::await_count() {
  if (!count) count = use->begin_count();
  for (;;) {
    if (auto ended = use->result_of(*count)) {
      if (!*ended) count.reset();  // the next time it may be better
      return std::move(*ended);
    }
    UDTCAT_CHECK(use->wait(*count, is_over));
  }
}

Result<DirectoryUse::Reservation> DirectoryLimit::reserve(std::uint64_t more, const std::string& what) const {
  DirectoryUse::CountNumber asked;
  for (;;) {
    UDTCAT_TRY(auto reservation, try_reserve(more, what, asked));
    if (reservation) return std::move(*reservation);
    UDTCAT_CHECK(use->wait(is_over));
  }
}

Result<std::shared_ptr<DirectoryUse>> DirectoryUses::of(const FileTree& tree) {
  UDTCAT_TRY(const struct stat status, tree.look());
  const core::MutexLock lock(mutex_);
  std::erase_if(uses_, [](const auto& each) { return each.second.use_count() == 1 && !each.second->is_wanted(); });
  auto& use = uses_[{status.st_dev, status.st_ino}];
  if (!use) use = std::make_shared<DirectoryUse>(tree, threads_);
  return use;
}

}  // namespace udtcat::files
