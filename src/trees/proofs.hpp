// SPDX-License-Identifier: Apache-2.0
/// The files that a receiver has proved, and the book in which later transfers find them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "files/file_tree.hpp"
#include "files/proof_book.hpp"
#include "lib/core/mutex.hpp"
#include "trees/destination.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

/// The book of a directory, in the directory of all books, which is made.  none: nothing can be remembered of it
[[nodiscard]] std::optional<files::FileLocation> book_of(const files::FileTree& tree, const std::string& books);

/// A file that was proved, and waits to be written into the book.
struct Proved {
  std::string path;
  files::Stamp source;
  files::Digest digest;
  struct stat status {};  ///< of the file here, at the moment of the proof
};

/// Every call may wait for the disk.
/// Threads: internally synchronised.
class Proofs {
 public:
  /// book   none: nothing is remembered
  /// peer   the sender's key, by which its stamps are not another's; empty: all senders have the same key
  Proofs(const std::optional<files::FileLocation>& book, std::string peer);

  /// The hash of a file that was proved, where neither the source nor the file here has changed since.
  /// location   of the file here
  [[nodiscard]] std::optional<files::Digest> find(const Entry& entry, const files::FileLocation& location,
                                                  const struct stat& status);
  /// Writes files that have their names into the book.  returns  those that have changed too lately for that
  [[nodiscard]] std::vector<Proved> note(const std::vector<Proved>& proved, Destination& destination);
  /// Stores the book.
  void save();

 private:
  [[nodiscard]] files::Stamp of_peer(const files::Stamp& stamp) const;

  const std::string peer_;
  core::Mutex mutex_;
  std::optional<files::ProofBook> book_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::trees
