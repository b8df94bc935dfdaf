// SPDX-License-Identifier: Apache-2.0
/// The end of a transfer that gets the files.  spec: docs/spec/trees.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <udtcat/result.hpp>

#include "trees/bounded_queue.hpp"
#include "trees/committer.hpp"
#include "trees/incoming_file.hpp"
#include "trees/planner.hpp"
#include "trees/receiver_state.hpp"
#include "trees/top_directory.hpp"

namespace udtcat::trees {

/// Takes what the sender announces, and returns when all of it is at its place and on the disk.
///
///   the stream ──► entries ──► Planner (a thread: names, hashes of what is there) ──► answers
///           └──► chunks ──► IncomingFile ──► Committer (a thread: the disk, final names)
///
/// Every call waits for disks and for the peer.
/// Threads: unsynchronised.
class Receiver {
 public:
  /// manifest   null: none is written.  `stream`, `manifest` and `counters` outlive this
  /// errors: those of PartialFiles::open()
  [[nodiscard]] static Result<std::unique_ptr<Receiver>> make(ReceiverOptions options, BlockingStream& stream,
                                                              ManifestLog* manifest, TransferCounters& counters);

  /// Whole but for the names that `counters` has complained of.
  /// reader   of the stream, behind what was read before.  hello   of a connector
  /// errors: as Failed says; those of the stream and of the disk; Errc::protocol_violated
  [[nodiscard]] Status run(MessageReader& reader, const std::optional<Hello>& hello);

 private:
  Receiver(TopDirectory top, ReceiverOptions options, PartialFiles parts, BlockingStream& stream, ManifestLog* manifest,
           TransferCounters& counters)
      : top_(std::move(top)),
        stream_(stream),
        state_(std::move(options), std::move(parts), stream, manifest, counters) {}

  void plan_entries();
  [[nodiscard]] Status receive(MessageReader& reader);
  [[nodiscard]] Status take(Message& message, std::size_t body_bytes);
  [[nodiscard]] Status take_entry(Entry entry, std::size_t body_bytes);
  template <typename Chunks>
  [[nodiscard]] Status take_chunks(const Chunks& chunks, std::uint64_t count);
  [[nodiscard]] Status take_file_done(const FileDone& done);
  [[nodiscard]] Status take_dropped(const Dropped& dropped);
  [[nodiscard]] Status make_current(EntryId id);
  [[nodiscard]] Status refuse_or_fail(const ScopedStatus& taken);
  void acknowledge_current();
  void complain_of_dropped();
  [[nodiscard]] Status complete(const End& end);
  void refuse_after_all(EntryId id, const Error& error);
  [[nodiscard]] ScopedStatus make_link(const Planner::Link& link);
  [[nodiscard]] Status make_links();
  void set_directories();
  void save_cache();

  TopDirectory top_;  // the first member: it restores its mode last
  BlockingStream& stream_;
  ReceiverState state_;
  Planner planner_{state_};
  Destination destination_{state_.destination()};
  BoundedQueue<NumberedEntry> entries_{kMaxUnacknowledged};
  std::optional<Committer> committer_;
  EntryId next_id_ = 0;
  std::map<std::string, std::string> dropped_;  ///< by path: what to report unless the file comes again
  /// The file whose contents are coming.
  struct Current {
    EntryId id;
    std::size_t body_bytes;
    IncomingFile file;
    bool is_given_up = false;
    std::uint64_t sent_bytes = 0;
  };
  std::optional<Current> current_;
  bool is_done_ = false;
};

}  // namespace udtcat::trees
