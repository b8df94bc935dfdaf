// SPDX-License-Identifier: Apache-2.0
/// The names that one transfer has put in place below its directory, as the threads that do so share them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/directory_use.hpp"
#include "lib/bridge/descriptor.hpp"
#include "lib/core/mutex.hpp"
#include "trees/disk/attributes.hpp"
#include "trees/disk/file_system_traits.hpp"
#include "trees/disk/name_error.hpp"
#include "trees/inode_set.hpp"

namespace udtcat::trees {

/// How much a peer may write, and have in its directory.
/// Threads: internally synchronised.
class WriteBudget {
 public:
  static constexpr std::uint64_t kNameBytes = files::kNameBytes;

  /// bytes       none: as much as the disk has
  /// directory   none: likewise
  explicit WriteBudget(std::optional<std::uint64_t> bytes, std::optional<files::DirectoryLimit> directory = {})
      : bytes_(bytes), directory_(std::move(directory)) {}

  [[nodiscard]] bool has_directory_limit() const { return directory_.has_value(); }
  /// path   for the error.  errors: Errc::stream_refused: it would be more than the budget
  [[nodiscard]] ScopedStatus charge(std::uint64_t bytes, const std::string& path);
  /// A name is going to be made.  attribute_bytes   of what it has besides its content
  /// returns   to be kept until it is.  errors: the same; those of reserve()
  [[nodiscard]] ScopedResult<files::DirectoryUse::Reservation> charge_name(std::uint64_t attribute_bytes,
                                                                           const std::string& path);
  /// A file is going to be larger, which counts for the directory.  returns   to be kept until it is
  /// errors: those of DirectoryLimit::reserve()
  [[nodiscard]] ScopedResult<files::DirectoryUse::Reservation> reserve(std::uint64_t bytes, const std::string& path);
  // As DirectoryUse::counts_so_far() and release().
  [[nodiscard]] std::uint64_t counts_so_far() const { return directory_ ? directory_->use->counts_so_far() : 0; }
  void release(std::uint64_t bytes, std::uint64_t since);
  // Changes of names, which count for the directory; those of FileLocation.
  [[nodiscard]] Status rename(const files::FileLocation& from, const files::FileLocation& to);
  void remove(const files::FileLocation& name);
  /// returns  to be kept as long as the file is open
  [[nodiscard]] files::DirectoryUse::OpenFile open(const bridge::Descriptor& file);

 private:
  const std::optional<std::uint64_t> bytes_;
  const std::optional<files::DirectoryLimit> directory_;
  std::atomic<std::uint64_t> charged_{0};
};

/// Threads: internally synchronised.
class WrittenNames {
 public:
  /// on_loss   is told once of each kind of attribute that a file system does not keep, by any thread
  WrittenNames(std::optional<std::uint64_t> limit_bytes, std::optional<files::DirectoryLimit> directory,
               std::function<void(const std::string& line)> on_loss)
      : budget_(limit_bytes, std::move(directory)), on_loss_(std::move(on_loss)) {}

  [[nodiscard]] WriteBudget& write_budget() { return budget_; }
  /// Held from looking at a name until it is replaced.
  [[nodiscard]] core::Mutex& names() UDTCAT_RETURN_CAPABILITY(names_) { return names_; }

  /// Something has that path now.
  /// birth   see FileLocation: where somebody else has replaced a file, another one may have got the inode's number
  void add(const struct stat& status, std::string_view birth, const std::string& path) UDTCAT_REQUIRES(names_);
  /// Whether what stands at a path came by this transfer.
  /// is_listed   asked of a file with several names: whether the path is one in this very spelling
  [[nodiscard]] bool has(const struct stat& status, std::string_view birth, const std::string& path,
                         const std::function<bool()>& is_listed) const UDTCAT_REQUIRES(names_);

  /// A directory is refused, and with it what is below its path, which would come into another.
  void refuse_below(const std::string& path) UDTCAT_REQUIRES(names_);
  [[nodiscard]] bool is_below_refused(const std::string& path) const UDTCAT_REQUIRES(names_);

  /// directory   of a file system in which names are made, or have been found
  void add_file_system(dev_t device, const bridge::Descriptor& directory);
  /// Returns when all that was written to these file systems is on the disk.
  /// shown   for messages.  errors: Errc::local_write_failed
  [[nodiscard]] Status sync(const std::string& shown);

  void lose(dev_t device, const std::string& shown, const Losses& losses);

 private:
  static constexpr std::size_t kMaxRefused = 65'536;  // guess: what is below further ones may come into another
  static constexpr std::size_t kMaxTold = 1'024;      // guess: of losses: more file systems than anybody mounts

  WriteBudget budget_;
  const std::function<void(const std::string&)> on_loss_;
  core::Mutex names_;
  InodeSet placed_ UDTCAT_GUARDED_BY(names_);
  std::unordered_set<std::uint64_t> several_ UDTCAT_GUARDED_BY(names_);  // hashes of paths of files with several names
  std::set<std::string> refused_ UDTCAT_GUARDED_BY(names_);              // directories
  core::Mutex mutex_;
  std::map<dev_t, std::shared_ptr<const bridge::Descriptor>> file_systems_ UDTCAT_GUARDED_BY(mutex_);
  std::set<std::pair<dev_t, std::string>> told_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::trees
