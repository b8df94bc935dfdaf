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
#include "trees/judge.hpp"
#include "trees/reception.hpp"
#include "trees/top_directory.hpp"

namespace udtcat::trees {

/// Takes what the sender announces, and returns when all of it stands and is on the disk.
///
///   the wire ──► entries ──► Judge (a thread: names, hashes of what is there) ──► answers
///           └──► leaves ──► IncomingFile ──► Committer (a thread: the disk, final names)
///
/// Every call waits for disks and for the peer.
/// Threads: unsynchronised.
class Receiver {
 public:
  /// manifest   null: none is written.  `wire`, `manifest` and `tally` outlive this
  /// errors: those of Parts::open()
  [[nodiscard]] static Result<std::unique_ptr<Receiver>> make(ReceiverOptions options, Wire& wire,
                                                              ManifestLog* manifest, Tally& tally);

  /// Whole but for the names that `tally` has complained of.
  /// reader   of the wire, behind what was read before.  hello   of a connector
  /// errors: as Failed says; those of the wire and of the disk; Errc::protocol_violated
  [[nodiscard]] Status run(MessageReader& reader, const std::optional<Hello>& hello);

 private:
  Receiver(TopDirectory top, ReceiverOptions options, Parts parts, Wire& wire, ManifestLog* manifest, Tally& tally)
      : top_(std::move(top)), wire_(wire), reception_(std::move(options), std::move(parts), wire, manifest, tally) {}

  void judge_entries();
  [[nodiscard]] Status receive(MessageReader& reader);
  [[nodiscard]] Status take(Message& message, std::size_t body_bytes);
  [[nodiscard]] Status take_entry(Entry entry, std::size_t body_bytes);
  template <typename Leaves>
  [[nodiscard]] Status take_leaves(const Leaves& leaves, std::uint64_t count);
  [[nodiscard]] Status take_whole(const Whole& whole);
  [[nodiscard]] Status take_dropped(const Dropped& dropped);
  [[nodiscard]] Status make_current(EntryId id);
  void give_up(const Error& error);
  void settle_current();
  void complain_of_dropped();
  [[nodiscard]] Status complete(const End& end);
  void refuse_after_all(EntryId id, const Error& error);
  [[nodiscard]] ScopedStatus make_link(const Judge::Link& link);
  [[nodiscard]] Status make_links();
  void set_directories();
  void write_book();

  TopDirectory top_;  // the first, as its mode is restored last
  Wire& wire_;
  Reception reception_;
  Judge judge_{reception_};
  Destination destination_{reception_.destination()};
  BoundedQueue<Numbered> entries_{kMaxUnsettled};
  std::optional<Committer> committer_;
  EntryId next_id_ = 0;
  std::map<std::string, std::string> dropped_;  ///< by path: what to say unless it comes again
  /// The file that the sender describes.
  struct Current {
    EntryId id;
    std::size_t body_bytes;
    IncomingFile file;
    bool is_given_up = false;
    std::uint64_t described_bytes = 0;
  };
  std::optional<Current> current_;
  bool is_done_ = false;
};

}  // namespace udtcat::trees
