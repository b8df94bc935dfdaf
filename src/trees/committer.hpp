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
#include "trees/reception.hpp"

namespace udtcat::trees {

/// A file that was taken whole.
struct Taken {
  EntryId id = 0;
  Entry entry;
  files::Digest digest{};
  std::optional<Stamp> stamp{};  ///< of the source, as it was read
  IncomingFile::State state{};
};

/// Files are gathered while the disk stores those before: one sync for all of a batch.
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

  /// `reception` outlives this.
  explicit Committer(Reception& reception) : reception_(reception) {}
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  ~Committer() { stop(); }

  /// Before anything else.  errors: those of start_thread()
  [[nodiscard]] Status start();
  void add(Taken file);
  /// Returns when all files so far have their names, or were refused.
  void finish();
  /// Whether a part of that path may still wait for its name.
  [[nodiscard]] bool is_pending(const std::string& path) const {
    return std::ranges::any_of(pending_, [&](const auto& paths) { return paths.contains(path); });
  }
  /// Nothing more is given a name; those that have none stay parts.
  void stop();
  /// After finish() or stop(): those that were proved, and are not in the book.
  [[nodiscard]] const std::vector<Proved>& proved() const { return proved_; }

 private:
  using Clock = std::chrono::steady_clock;

  void hand_over();
  void work();
  [[nodiscard]] Status commit(std::vector<Taken> batch, Destination& destination);
  [[nodiscard]] NameResult<struct stat> give_name(const Taken& file, Destination& destination);
  void watch(const Taken& file, const struct stat& stands);
  void begin_watch(bridge::Descriptor part);
  void end_watch(std::size_t left);

  Reception& reception_;
  std::vector<Taken> batch_;
  std::uint64_t batch_bytes_ = 0;
  std::size_t batch_memory_ = 0;  // of its entries
  // Paths of parts: of the batch, of that which waits for the disk, and of that before it, which is being stored.
  std::array<std::set<std::string>, 3> pending_;
  Clock::time_point batch_began_;
  BoundedQueue<std::vector<Taken>> batches_{1};
  std::vector<Proved> proved_;  // the thread's, until finish()
  /// A part that gets its name: nobody may write it from before that until it was looked at.
  struct Watched {
    explicit Watched(bridge::Descriptor opened) : file(std::move(opened)) { ++in_all; }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    ~Watched() { --in_all; }

    static inline std::atomic<std::size_t> in_all{0};  // of the process, whose descriptors they are
    bridge::Descriptor file;
    QuietFile quiet{file};
    std::optional<Proved> proved{};  // none: it has no name yet, or gets none
  };
  std::deque<std::unique_ptr<Watched>> watched_;  // the thread's, in the order of their names
  std::thread thread_;
};

}  // namespace udtcat::trees
