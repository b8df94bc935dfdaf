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
#include <udtcat/units.hpp>

#include "lib/core/mutex.hpp"
#include "trees/blocking_stream.hpp"
#include "trees/counters.hpp"
#include "trees/destination.hpp"
#include "trees/incoming_file.hpp"
#include "trees/manifest_log.hpp"
#include "trees/message_io.hpp"
#include "trees/verified_files.hpp"

namespace udtcat::trees {

/// How a transfer is received.
struct ReceiverOptions {
  files::FileTree tree;
  std::string job;     ///< names the parts of this transfer
  bool waits = false;  ///< for another process that has it under way
  bool keeps_owners = false;
  std::string peer{};  ///< the sender's key, by which its fingerprints are not another's; empty: all have the same key
  bool is_sealed = false;  ///< the stream proves every byte: chunks that come are not hashed again (ADR-0050)
  std::optional<std::uint64_t> limit_bytes{};
  std::optional<files::DirectoryLimit> directory_limit{};
  std::optional<std::set<std::string>> asked{};  ///< first words of the paths that were asked for; none: any may come
  std::optional<std::string> home{};             ///< the user's, whose mode stays unless owners are kept
  std::optional<files::FileLocation> cache;      ///< none: nothing is remembered
  bool trusts_cache = true;                      ///< false: every file is hashed again
  std::size_t remembered_bytes = 2 * kGiB;       ///< guess: ten million directories; of what is kept to the end
};

/// The first error of the transfer is told to the sender, and ends it. An error of one name is told, and counts.
/// Threads: internally synchronised.
class ReceiverState {
 public:
  ReceiverState(ReceiverOptions options, PartialFiles parts, BlockingStream& stream, ManifestLog* manifest,
                TransferCounters& counters);

  [[nodiscard]] Destination destination() {
    return {options_.tree, parts_, written_, options_.keeps_owners, [this] { return should_stop(); }};
  }
  [[nodiscard]] const ReceiverOptions& options() const { return options_; }
  [[nodiscard]] const PartialFiles& parts() const { return parts_; }
  [[nodiscard]] MessageWriter& writer() { return writer_; }
  [[nodiscard]] TransferCounters& counters() { return counters_; }
  [[nodiscard]] VerifiedFiles& verified_files() { return verified_files_; }

  /// The transfer cannot go on.
  void fail(const Error& error);
  [[nodiscard]] bool has_failed() const { return failed_; }
  [[nodiscard]] std::optional<Error> failure();
  /// Whether the transfer is over, for a thread in the midst of something long.
  [[nodiscard]] bool should_stop() const { return failed_ || stream_.is_cut(); }

  /// Counts an entry until it is acknowledged.  body_bytes   of its message
  /// errors: Errc::protocol_violated: there are more than may be
  [[nodiscard]] Status announce(std::size_t body_bytes);
  void acknowledge(std::size_t body_bytes);
  [[nodiscard]] bool all_acknowledged() const { return unacknowledged_ == 0; }

  /// Waits, unless the transfer fails meanwhile.
  void pause(std::chrono::milliseconds time);

  /// Refuses an entry. `now` may wait for the sender to read; `later`, for threads on which the sender may be waiting,
  /// leaves the message to tell_refusals().
  enum class When { now, later };
  void refuse(EntryId id, const std::string& reason, When when);
  /// Writes the refusals that were left for later, and what a file system does not keep, in their order.
  void tell_refusals();
  /// The same once they are many, so that their memory is bounded: for threads on which the sender does not wait.
  void tell_many_refusals();
  /// An entry that is in the manifest is not there after all: the manifest is not finished.
  void spoil_manifest();
  /// A file has its name, and this status there; hard links to it can be made.
  void add_link_target(EntryId id, const Entry& entry, const struct stat& status);
  /// None: the file has no name yet, or is none that links may lead to.
  [[nodiscard]] std::optional<struct stat> link_target(EntryId id);
  /// The file is refused or dropped: no hard link to it is made.
  void forbid_links_to(EntryId id, const Entry& entry);
  [[nodiscard]] bool forbids_links_to(EntryId id);
  /// A later entry may be a hard link to it.
  void expect_links_to(EntryId id, const std::string& path);
  /// Counts an entry that is at its place, or will be once its batch is on the disk, and adds it to the manifest.
  void record(const Entry& entry, const std::optional<files::Digest>& digest);

  /// A file whose contents the planner has asked for, until the reading thread gets them.
  struct Expected {
    Entry entry;
    std::optional<BasisFile> basis;  ///< none: there is nothing of it
    std::size_t body_bytes = 0;
  };
  /// Waits while the hashes of the basis files take too much memory.
  void expect(EntryId id, Expected file);
  /// None: it is not expected.
  [[nodiscard]] std::optional<Expected> take_expected(EntryId id);

 private:
  [[nodiscard]] static std::size_t hashes_of(const Expected& file) {
    return file.basis ? file.basis->chunks.runs() : 0;
  }

  const ReceiverOptions options_;
  const PartialFiles parts_;
  BlockingStream& stream_;
  MessageWriter writer_;
  TransferCounters& counters_;
  WrittenNames written_;
  VerifiedFiles verified_files_;
  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> unacknowledged_{0};
  std::atomic<std::size_t> unacknowledged_bytes_{0};
  core::Mutex mutex_;
  core::Condition failing_;
  ManifestLog* const manifest_ UDTCAT_GUARDED_BY(mutex_);
  std::optional<Error> failure_ UDTCAT_GUARDED_BY(mutex_);
  std::vector<Message> for_later_ UDTCAT_GUARDED_BY(mutex_);               // Refused and NotStored
  std::set<EntryId> missing_ UDTCAT_GUARDED_BY(mutex_);                    // files that nothing is to link to
  std::map<EntryId, struct stat> link_targets_ UDTCAT_GUARDED_BY(mutex_);  // files that are at their names
  std::map<EntryId, Expected> expected_ UDTCAT_GUARDED_BY(mutex_);
  std::size_t expected_hashes_ UDTCAT_GUARDED_BY(mutex_) = 0;  // runs of them
  core::Condition less_expected_;
};

}  // namespace udtcat::trees
