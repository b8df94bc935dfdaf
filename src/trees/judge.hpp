// SPDX-License-Identifier: Apache-2.0
/// Answers entries: makes names that have no content, and says of files what is there already.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "trees/candidate.hpp"
#include "trees/destination.hpp"
#include "trees/disk/path_store.hpp"
#include "trees/message.hpp"
#include "trees/reception.hpp"

namespace udtcat::trees {

/// An entry, with its number.
struct Numbered {
  EntryId id = 0;
  Entry entry;
  std::size_t body_bytes = 0;  ///< of its message
};

/// Every call may wait for the disk and for the sender.
/// Threads: one judges; others read what that has left when it is idle.
class Judge {
 public:
  // guess: ten million directories
  static constexpr std::size_t kMaxRememberedBytes = 2 * kGiB;

  struct Link {
    EntryId id;
    EntryId of;              ///< as path_of() has it
    PathStore::Number path;  ///< as paths() has it
  };
  struct Directory {
    EntryId id;
    PathStore::Number path;  ///< likewise
    Attributes attributes;
    dev_t device;  ///< of the very directory
    ino_t inode;
  };

  /// `reception` outlives this.
  explicit Judge(Reception& reception) : reception_(reception), destination_(reception.destination()) {}

  /// Answers it; an error of the transfer goes to the reception.
  void judge(Numbered numbered);

  /// Hard links, which are made when all files have their names.
  [[nodiscard]] const std::deque<Link>& links() const { return links_; }
  /// The path of a file that a link leads to.
  [[nodiscard]] std::string path_of(EntryId id) const { return paths_.path(linkable(id)->path); }
  [[nodiscard]] const PathStore& paths() const { return paths_; }
  /// In their order; they get their attributes when nothing more is made in them.
  [[nodiscard]] const std::deque<Directory>& directories() const { return directories_; }

 private:
  [[nodiscard]] ScopedStatus answer(const Numbered& numbered);
  [[nodiscard]] ScopedStatus answer_directory(const Numbered& numbered);
  [[nodiscard]] ScopedStatus answer_link(const Numbered& numbered);
  [[nodiscard]] ScopedStatus answer_file(const Numbered& numbered);
  [[nodiscard]] ScopedStatus have(const Numbered& numbered, const std::optional<files::Digest>& digest);
  [[nodiscard]] ScopedResult<bool> have_proved(const Numbered& numbered, const files::FileLocation& location);
  [[nodiscard]] std::optional<Candidate> find_candidate(const Entry& entry, const std::optional<struct stat>& status);
  void hash_leaves(const Entry& entry, Candidate& candidate);
  [[nodiscard]] ScopedStatus tell_leaves(EntryId id, const LeafRuns& leaves);
  /// A file that links may lead to.
  struct Linkable {
    EntryId id;
    PathStore::Number path;
  };
  [[nodiscard]] const Linkable* linkable(EntryId id) const;
  [[nodiscard]] ScopedResult<PathStore::Number> remember(const Entry& entry);

  Reception& reception_;
  Destination destination_;
  std::vector<std::byte> memory_;  // of a leaf
  PathStore paths_;                // of these three
  std::deque<Link> links_;
  std::deque<Linkable> linkable_;  // in the order of their numbers
  std::deque<Directory> directories_;
  std::size_t remembered_bytes_ = 0;  // but for the paths
};

}  // namespace udtcat::trees
