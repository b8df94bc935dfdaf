// SPDX-License-Identifier: Apache-2.0
/// How much is in a directory that several sessions write to, and may be in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/file_tree.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::files {

/// The sizes of the files in a directory and below, each once however many names it has, and kNameBytes for each name.
/// It is counted on the disk at the beginning and, when a limit is reached, again, since others remove files, too.
/// Every call may wait for the disk.
/// Threads: internally synchronised.
class DirectoryUse : public std::enable_shared_from_this<DirectoryUse> {
 public:
  static constexpr std::uint64_t kNameBytes = 4'096;            // guess: a name, and the inode behind it
  static constexpr std::chrono::seconds kCountsAgainAfter{10};  // guess: a peer cannot keep a disk busy with counting

  explicit DirectoryUse(FileTree tree) : tree_(std::move(tree)) {}

  /// The bytes of one name.  status   of it
  [[nodiscard]] static std::uint64_t bytes_of(const struct stat& status);

  /// Bytes that are about to be written: while this lives they may not be on the disk yet.
  class Growth {
   public:
    Growth() = default;
    Growth(std::shared_ptr<DirectoryUse> use, std::uint64_t bytes) : use_(std::move(use)), bytes_(bytes) {}
    Growth(Growth&& other) noexcept : use_(std::exchange(other.use_, nullptr)), bytes_(other.bytes_) {}
    Growth& operator=(Growth&& other) = delete;
    Growth(const Growth&) = delete;
    Growth& operator=(const Growth&) = delete;
    ~Growth() {
      if (use_) use_->arrive(bytes_);
    }

   private:
    std::shared_ptr<DirectoryUse> use_;
    std::uint64_t bytes_ = 0;
  };

  enum class CountWait { waits, fails };
  /// Unless it is counted already; where another is at it, this waits for that, or fails.
  /// errors: Errc::local_read_failed; Errc::out_of_resources: it does not wait
  [[nodiscard]] Status count(CountWait otherwise);
  /// errors: Errc::stream_refused, with EDQUOT: there would be more than `limit_bytes`; Errc::local_read_failed
  [[nodiscard]] Result<Growth> grow(std::uint64_t bytes, std::uint64_t limit_bytes, const std::string& what,
                                    const std::string& peer);
  /// They are removed.
  void shrink(std::uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] Result<std::uint64_t> walk() const;
  void begin_count() UDTCAT_REQUIRES(mutex_);
  [[nodiscard]] Status finish_count();
  [[nodiscard]] tl::unexpected<Error> refused(std::uint64_t limit_bytes, const std::string& what,
                                              const std::string& peer) UDTCAT_REQUIRES(mutex_);
  void arrive(std::uint64_t bytes);

  const FileTree tree_;
  core::Mutex mutex_;
  core::Condition counted_;
  bool is_counted_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool is_counting_ UDTCAT_GUARDED_BY(mutex_) = false;
  Clock::time_point counted_at_ UDTCAT_GUARDED_BY(mutex_);
  std::uint64_t used_ UDTCAT_GUARDED_BY(mutex_) = 0;
  std::uint64_t growing_ UDTCAT_GUARDED_BY(mutex_) = 0;  // of used_: may not be on the disk yet
  std::uint64_t unseen_ UDTCAT_GUARDED_BY(mutex_) = 0;   // by the count under way, perhaps
};

/// The most that a peer may have in a directory.
struct DirectoryLimit {
  std::shared_ptr<DirectoryUse> use;
  std::uint64_t bytes = 0;
  std::string peer;

  /// what   is tried, for the error.  errors: those of DirectoryUse::grow()
  [[nodiscard]] Result<DirectoryUse::Growth> grow(std::uint64_t more, const std::string& what) const {
    return use->grow(more, bytes, what, peer);
  }
};

/// The directories of peers with sessions, so that all that write to one know of each other.
/// Threads: internally synchronised.
class DirectoryUses {
 public:
  /// Waits for the disk.  errors: those of DirectoryUse::count()
  [[nodiscard]] Result<std::shared_ptr<DirectoryUse>> open(const FileTree& tree, DirectoryUse::CountWait otherwise);

 private:
  core::Mutex mutex_;
  std::map<std::pair<dev_t, ino_t>, std::weak_ptr<DirectoryUse>> uses_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::files
