// SPDX-License-Identifier: Apache-2.0
/// Gives whole files their names, once their content is on the disk.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <udtcat/result.hpp>

#include "trees/bounded_queue.hpp"
#include "trees/disk/writers.hpp"
#include "trees/receiver_state.hpp"

namespace udtcat::trees {

/// A file that has come completely.
struct ReceivedFile {
  EntryId id = 0;
  Entry entry;
  files::Digest digest{};
  std::optional<Fingerprint> fingerprint{};  ///< of the source, as it was read
  IncomingFile::State state{};
};

/// A limit ended the transfer: files that were whole by then get their names.
[[nodiscard]] inline bool is_of_limit(const Error& error) { return error.code == Errc::stream_refused; }

/// Gathers files while the disk stores the batch before: one sync serves a batch.
///
///   add() ──► batch (kMaxFiles, kMaxBytes, kMaxMemory: add() waits for the disk) ──► a thread: syncfs(2), rename(2)
///
/// Threads: confined to the thread that takes files; it has one of its own.
class Committer {
 public:
  static constexpr std::size_t kMaxFiles = 8'192;            // guess: a second of a disk's work
  static constexpr std::uint64_t kMaxBytes = 1'073'741'824;  // guess: likewise
  static constexpr std::size_t kMaxMemory = 16'777'216;      // guess: of paths and attributes; as of those that wait
  static constexpr std::size_t kFiles = 512;                 // guess: worth a sync while the disk is idle
  static constexpr std::uint64_t kBytes = 67'108'864;        // guess: likewise
  static constexpr std::size_t kMaxWatched = 256;            // guess: descriptors: a step of a slow clock
  static constexpr std::chrono::seconds kMaxAge{2};          // guess: a person sees files appear

  /// `state` outlives this.
  explicit Committer(ReceiverState& state) : state_(state) {}
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  ~Committer() { stop(); }

  /// Called before anything else.  errors: those of start_thread()
  [[nodiscard]] Status start();
  void add(ReceivedFile file);
  /// Returns when all files so far have their names, or were refused.
  void finish();
  /// Whether a part for that path may still wait for its name.
  [[nodiscard]] bool is_pending(const std::string& path) const {
    return std::ranges::any_of(pending_, [&](const auto& paths) { return paths.contains(path); });
  }
  /// No more files get their names; the others stay parts.
  void stop();
  /// Files that are not in the hash cache yet; called after finish() or stop().
  [[nodiscard]] const std::vector<VerifiedFile>& verified() const { return verified_; }

 private:
  using Clock = std::chrono::steady_clock;

  void hand_over();
  void work();
  [[nodiscard]] Status commit(std::vector<ReceivedFile> batch, Destination& destination);
  [[nodiscard]] static NameStatus sync(const files::FileLocation& part);
  [[nodiscard]] NameResult<struct stat> give_name(const ReceivedFile& file, Destination& destination);
  void watch(const ReceivedFile& file, const struct stat& stands);
  void begin_watch(bridge::Descriptor part);
  void end_watch(std::size_t left);

  ReceiverState& state_;
  std::vector<ReceivedFile> batch_;
  std::uint64_t batch_bytes_ = 0;
  std::size_t batch_memory_ = 0;  // of its entries
  // Paths of parts: of the batch, of that which waits for the disk, and of that before it, which is being stored.
  std::array<std::set<std::string>, 3> pending_;
  Clock::time_point batch_began_;
  BoundedQueue<std::vector<ReceivedFile>> batches_{1};
  std::vector<VerifiedFile> verified_;  // the thread's, until finish()
  /// A part under a read lease from before its rename(2) until its times have been checked, so that nobody can write it
  /// unnoticed.
  struct Watched {
    explicit Watched(bridge::Descriptor opened) : file(std::move(opened)) { ++in_all; }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    ~Watched() { --in_all; }

    static inline std::atomic<std::size_t> in_all{0};  // of the process, whose descriptors they are
    bridge::Descriptor file;
    QuietFile quiet{file};
    std::optional<VerifiedFile> verified{};  // none: it has no name yet, or gets none
  };
  std::deque<std::unique_ptr<Watched>> watched_;  // the thread's, in the order of their names
  std::thread thread_;
};

}  // namespace udtcat::trees
