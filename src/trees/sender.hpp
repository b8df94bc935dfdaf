// SPDX-License-Identifier: Apache-2.0
/// The end of a transfer that has the files.  spec: docs/spec/trees.md
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "trees/counters.hpp"
#include "trees/entry_reader.hpp"
#include "trees/file_contents.hpp"
#include "trees/manifest_log.hpp"
#include "trees/message.hpp"
#include "trees/message_io.hpp"
#include "trees/remote_hashes.hpp"
#include "trees/size_scan.hpp"
#include "trees/source.hpp"
#include "trees/watched_file.hpp"

namespace udtcat::trees {

/// Announces names, sends the contents that the receiver wants, and returns when it has answered DONE.
/// Every call waits for disks and for the peer.
/// Threads: unsynchronised; it has a thread of its own, too.
class Sender {
 public:
  /// manifest   null: none is written.  `source`, `stream`, `manifest` and `counters` outlive this
  Sender(Source& source, BlockingStream& stream, ManifestLog* manifest, TransferCounters& counters)
      : source_(source), stream_(stream), writer_(stream), manifest_(manifest), counters_(counters) {}

  /// Before run(): the totals are counted, for progress here or at the receiver.
  void count() { counts_ = true; }

  /// Whole but for the names that `counters` has complained of.
  /// reader   of the stream, behind what was read before.  hello   of a connector
  /// errors: as Failed says; those of the stream; Errc::protocol_violated
  [[nodiscard]] Status run(MessageReader& reader, const std::optional<Hello>& hello);

 private:
  static constexpr std::size_t kMaxAnswers = 2 * kMaxUnacknowledged;  // guess: no honest receiver has more to say
  static constexpr std::size_t kDigestsOfAnswer = 16;  // guess: that weigh as much; 32 MiB of them in all
  [[nodiscard]] static std::size_t cost_of(const Message& answer);

  /// An entry that is not acknowledged.
  struct Announced {
    SourceName source_name;
    Entry entry;
    std::size_t body_bytes = 0;
    struct stat status {};
    int attempt = 0;
  };
  void read_answers(MessageReader& reader);
  [[nodiscard]] Status exchange();
  [[nodiscard]] bool may_announce() const;
  [[nodiscard]] Status announce_next();
  [[nodiscard]] Status announce(SourceItem item, int attempt);
  [[nodiscard]] Status miss(const NameError& name);
  [[nodiscard]] Status handle(const Message& answer);
  [[nodiscard]] Status send_file(EntryId id, RemoteHashes* remote_hashes);
  [[nodiscard]] ScopedResult<bool> is_unchanged(const Announced& announced, WatchedFile& watched,
                                                const FileContents& contents, const files::Digest& digest);
  [[nodiscard]] Status drop(EntryId id, std::string reason, bool has_changed);
  void acknowledge(EntryId id);
  [[nodiscard]] Status record(EntryId id, const std::optional<files::Digest>& digest);
  [[nodiscard]] Status await_done();

  Source& source_;
  BlockingStream& stream_;
  MessageWriter writer_;
  ManifestLog* const manifest_;
  TransferCounters& counters_;
  Answers answers_{kMaxAnswers, cost_of};     // closed: the receiver says nothing more, or nobody asks any more
  std::atomic<bool> receiver_failed_{false};  // answers_ is closed with its reason
  EntryReader entries_{source_};
  bool counts_ = false;
  EntryId next_id_ = 0;
  bool all_announced_ = false;
  std::map<EntryId, Announced> unacknowledged_;
  std::size_t unacknowledged_bytes_ = 0;
  std::vector<std::byte> chunk_;
  std::optional<SizeScan> size_scan_;  // writes to writer_ and counters_
};

}  // namespace udtcat::trees
