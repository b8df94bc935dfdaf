// SPDX-License-Identifier: Apache-2.0
/// The state that the threads of a receiver share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"
#include "trees/destination.hpp"
#include "trees/incoming_file.hpp"
#include "trees/manifest_log.hpp"
#include "trees/message_io.hpp"
#include "trees/proofs.hpp"
#include "trees/tally.hpp"
#include "trees/wire.hpp"

namespace udtcat::trees {

/// The wishes of a transfer at its receiver.
struct ReceiverOptions {
  files::FileTree tree;
  std::string job;  ///< names the parts of this transfer
  Parts::Held held = Parts::Held::refuse;
  bool keeps_owners = false;
  std::string peer{};      ///< the sender's key, by which its stamps are not another's; empty: all have the same key
  bool is_sealed = false;  ///< the wire proves every byte: leaves that come are not hashed again (ADR-0050)
  std::optional<std::uint64_t> limit_bytes{};
  std::optional<std::set<std::string>> asked{};  ///< first words of the paths that were asked for; none: any may come
  std::optional<std::string> home{};             ///< the user's, whose mode stays unless owners are kept
  std::optional<files::FileLocation> book;       ///< none: nothing is remembered
  bool believes_book = true;                     ///< false: every file is hashed again
};

/// The first error of the transfer is told to the sender, and ends it. An error of one name is told, and counts.
/// Threads: internally synchronised.
class Reception {
 public:
  Reception(ReceiverOptions options, Parts parts, Wire& wire, ManifestLog* manifest, Tally& tally);

  [[nodiscard]] Destination destination() { return {options_.tree, parts_, placement_, options_.keeps_owners}; }
  [[nodiscard]] const ReceiverOptions& options() const { return options_; }
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] MessageWriter& writer() { return writer_; }
  [[nodiscard]] Tally& tally() { return tally_; }
  [[nodiscard]] Proofs& proofs() { return proofs_; }

  /// The transfer cannot go on.
  void fail(const Error& error);
  [[nodiscard]] bool has_failed() const { return failed_; }
  [[nodiscard]] std::optional<Error> failure();
  /// Whether the threads had better stop what takes long.
  [[nodiscard]] bool should_stop() const { return failed_ || wire_.is_cut(); }

  /// Counts an entry until it is settled.  body_bytes   of its message
  /// errors: Errc::protocol_violated: there are more than may be
  [[nodiscard]] Status announce(std::size_t body_bytes);
  void settle(std::size_t body_bytes);
  [[nodiscard]] bool all_settled() const { return unsettled_ == 0; }

  /// Waits, unless the transfer fails meanwhile.
  void pause(std::chrono::milliseconds time);

  /// This name cannot be had, or stays as it was. The sender is told at once, or, so that nobody waits who is waited
  /// for, at the end.
  enum class When { now, later };
  void refuse(EntryId id, const std::string& reason, When when);
  /// Tells of those that were refused for later.
  void tell_refusals();
  /// The same where they are many: for threads that nobody waits for, so that there are never more than a sender may
  /// cause ahead (kMaxUnsettled), and some.
  void tell_many_refusals();
  /// A name that was proved cannot be had after all: no manifest is right.
  void spoil_manifest();
  /// The file has its name, and this is its state there: hard links lead to it.
  void stand(EntryId id, const Entry& entry, const struct stat& status);
  /// The state of a file that links may lead to.  none: it does not stand
  [[nodiscard]] std::optional<struct stat> standing(EntryId id);
  /// The file is not there as it should be: nothing is to link to it.
  void forbid_links_to(EntryId id, const Entry& entry);
  [[nodiscard]] bool forbids_links_to(EntryId id);
  /// A later entry may be a hard link to it.
  void expect_links_to(EntryId id, const std::string& path);
  /// It stands, or will once its batch is on the disk.
  void prove(const Entry& entry, const std::optional<files::Digest>& digest);

  /// A file that the sender is going to describe, from the thread that asks for it to the one that takes it.
  struct Expected {
    Entry entry;
    std::optional<Candidate> candidate;  ///< none: there is nothing of it
    std::size_t body_bytes = 0;
  };
  /// Waits where the hashes of those that are expected take much memory.
  void expect(EntryId id, Expected file);
  /// None: it is not expected.
  [[nodiscard]] std::optional<Expected> take_expected(EntryId id);

 private:
  [[nodiscard]] static std::size_t leaves_of(const Expected& file) {
    return file.candidate ? file.candidate->leaves.runs() : 0;
  }

  const ReceiverOptions options_;
  const Parts parts_;
  Wire& wire_;
  MessageWriter writer_;
  Tally& tally_;
  Placement placement_;
  Proofs proofs_;
  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> unsettled_{0};
  std::atomic<std::size_t> unsettled_bytes_{0};
  core::Mutex mutex_;
  core::Condition failing_;
  ManifestLog* const manifest_ UDTCAT_GUARDED_BY(mutex_);
  std::optional<Error> failure_ UDTCAT_GUARDED_BY(mutex_);
  std::vector<Refused> refusals_ UDTCAT_GUARDED_BY(mutex_);  // for later
  std::set<EntryId> missing_ UDTCAT_GUARDED_BY(mutex_);
  std::map<EntryId, struct stat> standing_ UDTCAT_GUARDED_BY(mutex_);  // of files that may be linked
  std::map<EntryId, Expected> expected_ UDTCAT_GUARDED_BY(mutex_);
  std::size_t expected_leaves_ UDTCAT_GUARDED_BY(mutex_) = 0;  // runs of them
  core::Condition less_expected_;
};

}  // namespace udtcat::trees
