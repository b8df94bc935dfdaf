// SPDX-License-Identifier: Apache-2.0
/// The files that a receiver has proved, and the book in which later transfers find them.
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
#include "trees/disk/proof_book.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

/// The book of a directory, in the directory of all books, which is made.  none: nothing can be remembered of it
[[nodiscard]] std::optional<files::FileLocation> book_of(const files::FileTree& tree, const std::string& books);

/// A file that was proved, and waits to be written into the book.
struct Proved {
  std::string path;
  Stamp source;
  files::Digest digest;
  struct stat status {};  ///< of the file here, at the moment of the proof
};

/// A book that transfers of this process share; each waits while another loads or stores it.
/// Threads: internally synchronised.
struct SharedBook {
  core::Mutex mutex;
  core::Condition pause;
  std::optional<ProofBook> book UDTCAT_GUARDED_BY(mutex);  ///< none before the first of them has loaded it
};

/// Every call may wait for the disk.
/// Threads: internally synchronised.
class Proofs {
 public:
  /// How a transfer uses its book.
  struct Use {
    std::string peer{};       ///< the sender's key, by which its stamps are not another's; empty: all have the same key
    bool is_believed = true;  ///< false: nothing is found in it, and what is proved is noted all the same
  };

  /// book   none: nothing is remembered
  Proofs(const std::optional<files::FileLocation>& book, Use use);

  /// The hash of a file that was proved, where neither the source nor the file here has changed since.
  /// location   of the file here
  [[nodiscard]] std::optional<files::Digest> find(const Entry& entry, const files::FileLocation& location,
                                                  const struct stat& status);
  /// Writes files that have their names into the book.  returns  those that have changed too lately for that
  [[nodiscard]] std::vector<Proved> note(const std::vector<Proved>& proved, Destination& destination);
  /// Forgets names that were of no use in this transfer and that are not there any more.  most   are looked at
  void forget_what_is_gone(Destination& destination, std::size_t most);
  /// Stores the book.
  void save();

 private:
  [[nodiscard]] Stamp of_peer(const Stamp& stamp) const;

  const Use use_;
  const std::shared_ptr<SharedBook> shared_;  // null: nothing is remembered
  ProofBook::Age began_ = 0;                  // the book's age then
};

}  // namespace udtcat::trees
