// SPDX-License-Identifier: Apache-2.0
/// The files that a receiver has verified, and the hash cache in which later transfers find them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "files/file_tree.hpp"
#include "lib/core/mutex.hpp"
#include "trees/destination.hpp"
#include "trees/disk/hash_cache.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

/// The cache file of a directory, below `caches`, which is made.  none: it has none
[[nodiscard]] std::optional<files::FileLocation> cache_of(const files::FileTree& tree, const std::string& caches);

/// A file whose hash was verified, on its way into the cache.
struct VerifiedFile {
  std::string path;
  Fingerprint source;
  files::Digest digest;
  struct stat status {};  ///< of the file here, at that moment
};

/// A cache that transfers of this process share; each waits while another loads or stores it.
/// Threads: internally synchronised.
struct SharedHashCache {
  core::Mutex mutex;
  core::Condition pause;
  std::optional<HashCache> cache UDTCAT_GUARDED_BY(mutex);  ///< none before the first of them has loaded it
};

/// Every call may wait for the disk.
/// Threads: internally synchronised.
class VerifiedFiles {
 public:
  /// How a transfer uses its cache.
  struct Use {
    std::string peer{};      ///< the sender's key, which keeps fingerprints apart; empty: all have the same key
    bool is_trusted = true;  ///< false: it is written, and not read
  };

  /// cache   none: nothing is remembered
  VerifiedFiles(const std::optional<files::FileLocation>& cache, Use use);

  /// The hash of a file that was verified, where neither the source nor the file here has changed since.
  /// location   of the file here
  [[nodiscard]] std::optional<files::Digest> find(const Entry& entry, const files::FileLocation& location,
                                                  const struct stat& status);
  /// Adds files that have their names to the cache.  returns  those that have changed too lately for that
  [[nodiscard]] std::vector<VerifiedFile> note(const std::vector<VerifiedFile>& verified, Destination& destination);
  /// Removes entries that this transfer did not use and whose files are gone.  most   are looked at
  void forget_what_is_gone(Destination& destination, std::size_t most);
  /// Stores the cache.
  void save();

 private:
  [[nodiscard]] Fingerprint of_peer(const Fingerprint& fingerprint) const;

  const Use use_;
  const std::shared_ptr<SharedHashCache> shared_;  // null: nothing is remembered
  HashCache::Age began_ = 0;                       // the cache's age then
};

}  // namespace udtcat::trees
