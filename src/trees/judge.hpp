// SPDX-License-Identifier: Apache-2.0
/// Answers entries: makes names that have no content, and says of files what is there already.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "trees/destination.hpp"
#include "trees/message.hpp"
#include "trees/reception.hpp"

namespace udtcat::trees {

/// An entry, with its number.
struct Numbered {
  EntryId id = 0;
  Entry entry;
  std::size_t body_bytes = 0;  ///< of its message
};

/// Threads: unsynchronised. Every call may wait for the disk and for the sender.
class Judge {
 public:
  /// `reception` outlives this.
  explicit Judge(Reception& reception) : reception_(reception), destination_(reception.destination()) {}

  /// Answers it; an error of the transfer goes to the reception.
  void judge(Numbered numbered);

 private:
  [[nodiscard]] Status answer(const Numbered& numbered);
  [[nodiscard]] Status answer_directory(const Numbered& numbered);
  [[nodiscard]] Status answer_link(const Numbered& numbered);
  [[nodiscard]] Status answer_file(const Numbered& numbered);
  [[nodiscard]] Status have(const Numbered& numbered, const std::optional<files::Digest>& digest);
  [[nodiscard]] Status have_proved(const Numbered& numbered, const struct stat& status, const files::Digest& digest);
  [[nodiscard]] std::optional<Candidate> find_candidate(const Entry& entry, const std::optional<struct stat>& status);
  [[nodiscard]] Result<bridge::Descriptor> open(const Entry& entry, const Candidate& candidate);
  void hash_leaves(const Entry& entry, Candidate& candidate);
  [[nodiscard]] Status tell_leaves(EntryId id, const LeafRuns& leaves);

  Reception& reception_;
  Destination destination_;
  std::vector<std::byte> memory_;  // of a leaf
};

}  // namespace udtcat::trees
