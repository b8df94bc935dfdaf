// SPDX-License-Identifier: Apache-2.0
/// Answers entries: makes names that have no content, and reports which chunks of a file are there already.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "trees/basis_file.hpp"
#include "trees/destination.hpp"
#include "trees/disk/path_store.hpp"
#include "trees/message.hpp"
#include "trees/receiver_state.hpp"

namespace udtcat::trees {

/// An entry, with its number.
struct NumberedEntry {
  EntryId id = 0;
  Entry entry;
  std::size_t body_bytes = 0;  ///< of its message
};

/// Every call may wait for the disk and for the sender.
/// Threads: confined to one; others read the lists while its queue is idle.
class Planner {
 public:
  struct Link {
    EntryId id;
    EntryId of;              ///< as path_of() has it
    PathStore::Number path;  ///< as paths() has it
  };
  struct Directory {
    EntryId id;
    PathStore::Number path;  ///< likewise
    Attributes attributes;
    dev_t device;  ///< with `inode`: the directory that was made or found
    ino_t inode;
  };

  /// `state` outlives this.
  explicit Planner(ReceiverState& state) : state_(state), destination_(state.destination()) {}

  /// Answers the entry; an error of the transfer goes to ReceiverState::fail().
  void plan(NumberedEntry numbered);

  /// Hard links, which are made when all files have their names.
  [[nodiscard]] const std::deque<Link>& links() const { return links_; }
  /// The path of a file that a link leads to.
  [[nodiscard]] std::string path_of(EntryId id) const { return paths_.path(linkable(id)->path); }
  [[nodiscard]] const PathStore& paths() const { return paths_; }
  /// Directories in their order, which get their attributes when nothing more is made in them.
  [[nodiscard]] const std::deque<Directory>& directories() const { return directories_; }

 private:
  [[nodiscard]] ScopedStatus answer(const NumberedEntry& numbered);
  [[nodiscard]] ScopedStatus answer_directory(const NumberedEntry& numbered);
  [[nodiscard]] ScopedStatus answer_link(const NumberedEntry& numbered);
  [[nodiscard]] ScopedStatus answer_file(const NumberedEntry& numbered);
  [[nodiscard]] ScopedStatus acknowledge(const NumberedEntry& numbered, const std::optional<files::Digest>& digest);
  [[nodiscard]] ScopedResult<bool> acknowledge_cached(const NumberedEntry& numbered,
                                                      const files::FileLocation& location);
  [[nodiscard]] std::optional<BasisFile> find_basis(const Entry& entry, const std::optional<struct stat>& status);
  void hash_chunks(const Entry& entry, BasisFile& basis);
  [[nodiscard]] ScopedStatus send_hashes(EntryId id, const ChunkHashes& chunks);
  /// A file that links may lead to.
  struct Linkable {
    EntryId id;
    PathStore::Number path;
  };
  [[nodiscard]] const Linkable* linkable(EntryId id) const;
  [[nodiscard]] ScopedResult<PathStore::Number> remember(const Entry& entry);

  ReceiverState& state_;
  Destination destination_;
  std::vector<std::byte> memory_;  // of a chunk
  PathStore paths_;                // of the entries in these three
  std::deque<Link> links_;
  std::deque<Linkable> linkable_;  // in the order of their numbers
  std::deque<Directory> directories_;
  std::size_t remembered_bytes_ = 0;  // of these, without paths_
};

}  // namespace udtcat::trees
