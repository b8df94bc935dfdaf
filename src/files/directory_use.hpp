// SPDX-License-Identifier: Apache-2.0
/// How much is in a directory that several sessions write to, and may be in it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/counting_threads.hpp"
#include "files/directory_count.hpp"
#include "files/file_location.hpp"
#include "files/file_tree.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::files {

/// The bytes of a DirectoryCount, kept up by all sessions of a process that write there:
///
/// - charged    they are in it: used() is the sum
/// - reserved   of these, they may not be on the disk yet: what is going to be written is reserved first
/// - released   they are charged no more: rename() and remove() release what was replaced
///
/// The directory is counted on the disk when the first session begins to write, and again before anything is refused,
/// since others may have removed files. A refusal rests on a count that began after its request; one count serves all
/// requests before it. Between counts used() may be too high, never too low:
///
/// - What is reserved or moved during a count is added to it. Where a directory is moved it is counted again.
/// - A file that is open (OpenFile) is charged to its end, whatever becomes of its name: its space is not free before.
/// - The names of one file are changed one at a time, so that it is released once.
///
/// Threads: internally synchronised. rename(), remove() and open() wait for the disk, and for each other where they are
/// of one file.
class DirectoryUse : public std::enable_shared_from_this<DirectoryUse> {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kMaxWalks = 3;                      // guess: directories are not moved all the time
  static constexpr std::chrono::seconds kKeptUnasked{60};  // guess: a client that did not wait is back by then
  /// For those that ask again, as no thread of theirs may wait().
  static constexpr std::chrono::milliseconds kAskAgain{20};  // guess: a small directory is counted by then

  DirectoryUse(FileTree tree, std::weak_ptr<CountingThreads> threads)
      : tree_(std::move(tree)), threads_(std::move(threads)) {}

  /// While one has it the use is kept up, so that others need not count. A count that has begun comes to its end, and
  /// is kept for a minute where nobody waits for it any more.
  class Count {
   private:
    friend class DirectoryUse;
    std::optional<Status> ended_;  // the use's mutex_ guards it
  };
  /// Begins a count, unless there is one that is kept, or under way.
  [[nodiscard]] std::shared_ptr<Count> begin_count();
  /// none: it is under way.  errors: Errc::local_read_failed; Errc::out_of_resources: no thread counts
  [[nodiscard]] std::optional<Status> result_of(const Count& count);
  /// Returns when it has ended.  errors: Errc::interrupted, where is_over(), which is asked now and then, says so
  [[nodiscard]] Status wait(const Count& count, const std::function<bool()>& is_over);
  /// Returns when none is under way, and the next one may begin: as long after the last as that took, so that a peer
  /// cannot keep a disk busy with counting.  errors: the same
  [[nodiscard]] Status wait(const std::function<bool()>& is_over);
  /// A count is under way, or kept although nobody asks for it.
  [[nodiscard]] bool is_wanted();
  /// Bytes that are charged, as far as it is known now.
  [[nodiscard]] std::uint64_t used();

  /// Bytes that are about to be written: while this lives they may not be on the disk yet.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(std::shared_ptr<DirectoryUse> use, std::uint64_t bytes) : use_(std::move(use)), bytes_(bytes) {}
    Reservation(Reservation&& other) noexcept : use_(std::exchange(other.use_, nullptr)), bytes_(other.bytes_) {}
    Reservation& operator=(Reservation&& other) = delete;
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() {
      if (use_) use_->end_reservation(bytes_);
    }

   private:
    std::shared_ptr<DirectoryUse> use_;
    std::uint64_t bytes_ = 0;
  };

  /// A file of the directory that is open.
  class OpenFile {
   public:
    OpenFile() = default;
    OpenFile(OpenFile&& other) noexcept { *this = std::move(other); }
    OpenFile& operator=(OpenFile&& other) noexcept {
      std::swap(use_, other.use_);
      std::swap(file_, other.file_);
      return *this;
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() { close(); }
    /// Before its descriptor is closed, as another file may have the inode's number then.
    void close() {
      if (const auto use = std::exchange(use_, nullptr)) use->close(file_);
    }

   private:
    friend class DirectoryUse;
    OpenFile(std::shared_ptr<DirectoryUse> use, std::pair<dev_t, ino_t> file) : use_(std::move(use)), file_(file) {}

    std::shared_ptr<DirectoryUse> use_;  // none: it is no regular file
    std::pair<dev_t, ino_t> file_;
  };
  [[nodiscard]] OpenFile open(const bridge::Descriptor& descriptor);

  /// Bytes that are asked for.
  struct Want {
    std::uint64_t bytes = 0;
    std::uint64_t limit_bytes = 0;
    const std::string& what;  ///< for the error
    const std::string& peer;
  };
  /// The count that may refuse what is asked for: the first that begins later. None: it was not asked for yet.
  using CountNumber = std::optional<std::uint64_t>;
  /// asked   the same each time that this is asked
  /// file    that is going to be larger, where others may remove it meanwhile
  /// returns  none: that would be too much, and it is counted again: wait(), and ask again
  /// errors: Errc::stream_refused, with EDQUOT: there would be more than the limit; Errc::local_read_failed,
  /// Errc::out_of_resources: it could not be counted again
  [[nodiscard]] Result<std::optional<Reservation>> reserve(const Want& wanted, CountNumber& asked,
                                                           const OpenFile* file = nullptr);
  /// As much is there, without being asked for.
  void charge(std::uint64_t bytes);
  /// Counts that have ended by now.
  [[nodiscard]] std::uint64_t counts_so_far();
  /// As much that was charged is not there, or has gone.
  /// since   counts_so_far() before it went: one that has ended meanwhile may lack it already
  void release(std::uint64_t bytes, std::optional<std::uint64_t> since = {});
  /// As FileLocation::rename_to().
  [[nodiscard]] Status rename(const FileLocation& from, const FileLocation& to);
  /// remove   removes it, or says why not
  [[nodiscard]] Status remove(const FileLocation& name, const std::function<Status()>& remove);

 private:
  using FileId = std::pair<dev_t, ino_t>;
  class LockedFiles;
  class MovedName;
  void run_count(const std::atomic<bool>& is_over);
  void begin_walk() UDTCAT_REQUIRES(mutex_);
  [[nodiscard]] Status start_counting() UDTCAT_REQUIRES(mutex_);
  void end_count(const Result<DirectoryCount>& counted, Clock::duration took) UDTCAT_REQUIRES(mutex_);
  [[nodiscard]] Error refusal(const Want& wanted) UDTCAT_REQUIRES(mutex_);
  [[nodiscard]] Status wait_a_while(const std::function<bool()>& is_over) UDTCAT_REQUIRES(mutex_);
  void end_reservation(std::uint64_t bytes);
  void release_name(const struct stat& status, std::uint64_t since);
  [[nodiscard]] bool has_locked(const std::set<FileId>& files) const UDTCAT_REQUIRES(mutex_);
  void close(const FileId& file);

  const FileTree tree_;
  const std::weak_ptr<CountingThreads> threads_;
  core::Mutex mutex_;  // never held while a thread waits for the disk
  core::Condition counted_;
  core::Condition unlocked_;
  std::weak_ptr<Count> kept_ UDTCAT_GUARDED_BY(mutex_);
  Status last_ UDTCAT_GUARDED_BY(mutex_);  // of the last count
  DirectoryCount found_ UDTCAT_GUARDED_BY(mutex_);
  Clock::time_point next_count_ UDTCAT_GUARDED_BY(mutex_);
  Clock::time_point unasked_until_ UDTCAT_GUARDED_BY(mutex_);  // a count is kept that ended when nobody waited
  std::uint64_t counts_ UDTCAT_GUARDED_BY(mutex_) = 0;
  bool is_counting_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool is_moved_ UDTCAT_GUARDED_BY(mutex_) = false;  // a directory, since the walk began
  std::size_t moving_directories_ UDTCAT_GUARDED_BY(mutex_) = 0;
  std::uint64_t used_ UDTCAT_GUARDED_BY(mutex_) = 0;
  std::uint64_t reserved_bytes_ UDTCAT_GUARDED_BY(mutex_) = 0;  // of used_, and what is being moved
  std::uint64_t unseen_ UDTCAT_GUARDED_BY(mutex_) = 0;          // by the count under way, perhaps
  struct Opened {
    std::size_t times = 0;
    bool is_gone = false;          // it has no name any more
    std::uint64_t gone_bytes = 0;  // of used_: to be released when it is closed
  };
  std::set<FileId> locked_ UDTCAT_GUARDED_BY(mutex_);  // their names are looked at, and changed
  std::map<FileId, Opened> open_ UDTCAT_GUARDED_BY(mutex_);
};

// As DirectoryUse::rename() and remove().  use   may be null
[[nodiscard]] Status rename_in(const std::shared_ptr<DirectoryUse>& use, const FileLocation& from,
                               const FileLocation& to);
[[nodiscard]] Status remove_in(const std::shared_ptr<DirectoryUse>& use, const FileLocation& name,
                               const std::function<Status()>& remove);
/// The same, whatever is there.
void remove_in(const std::shared_ptr<DirectoryUse>& use, const FileLocation& name);

/// The most that a peer may have in a directory.
struct DirectoryLimit {
  std::shared_ptr<DirectoryUse> use;
  std::uint64_t bytes = 0;
  std::string peer;
  std::function<bool()> is_over{};               ///< nobody waits for the transfer any more; none: somebody does
  std::shared_ptr<DirectoryUse::Count> count{};  ///< once something is to be written

  /// Waits until it is counted.  errors: those of DirectoryUse::result_of() and wait()
  [[nodiscard]] Status await_count();
  /// what   is tried, for the error.  errors and result: those of DirectoryUse::reserve()
  [[nodiscard]] Result<std::optional<DirectoryUse::Reservation>> try_reserve(
      std::uint64_t more, const std::string& what, DirectoryUse::CountNumber& asked,
      const DirectoryUse::OpenFile* file = nullptr) const {
    return use->reserve({more, bytes, what, peer}, asked, file);
  }
  /// The same; waits where it is counted again.  errors: also those of DirectoryUse::wait()
  [[nodiscard]] Result<DirectoryUse::Reservation> reserve(std::uint64_t more, const std::string& what) const;
};

/// The directories of peers with sessions, so that all that write to one know of each other, and those that were
/// counted for one that has gone.
/// Threads: internally synchronised.
class DirectoryUses {
 public:
  /// Looks at the disk.  errors: Errc::local_read_failed
  [[nodiscard]] Result<std::shared_ptr<DirectoryUse>> of(const FileTree& tree);

 private:
  const std::shared_ptr<CountingThreads> threads_ = std::make_shared<CountingThreads>();
  core::Mutex mutex_;
  std::map<std::pair<dev_t, ino_t>, std::shared_ptr<DirectoryUse>> uses_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::files
