// SPDX-License-Identifier: Apache-2.0
/// The receiver's cache of file hashes, by which neither end reads an unchanged file again.
/// spec: docs/spec/trees.md §6
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "files/sha256.hpp"
#include "trees/disk/fingerprint.hpp"
#include "trees/disk/path_store.hpp"

namespace udtcat::trees {

/// An entry is found by its path and the fingerprints of both ends' files, so only while both are unchanged. It has the
/// age of the cache at which it was last used; a full cache evicts the entries of the earliest ages.
/// Threads: unsynchronised.
class HashCache {
 public:
  static constexpr std::size_t kMaxEntries = 2'097'152;  // spec: docs/spec/trees.md §6
  static constexpr std::size_t kMaxBytes = 402'653'184;  // spec: docs/spec/trees.md §6

  /// The number of transfers that have used the cache.
  using Age = std::uint32_t;

  /// Waits for the disk. A missing or damaged file gives an empty cache.
  [[nodiscard]] static HashCache load(const files::FileLocation& location);

  /// Marks the entry as used.
  [[nodiscard]] std::optional<files::Digest> find(std::string_view path, const Fingerprint& source,
                                                  const Fingerprint& own);
  /// Replaces the entry of `path`. A full cache evicts some entries of the earliest ages; where all are of this age it
  /// stays as it is, without one of `path`.
  /// path   as is_entry_path() wants it; others are not added
  void note(const std::string& path, const Fingerprint& source, const Fingerprint& own, const files::Digest& digest);
  void forget(std::string_view path);
  [[nodiscard]] Age age() const { return age_; }
  /// Begins a new age.
  void grow_older() {
    if (age_ < std::numeric_limits<Age>::max()) ++age_;
  }
  /// Paths of entries that were not used since that age, at most `most`: at each age other ones, in turn.
  [[nodiscard]] std::vector<std::string> unused_since(Age age, std::size_t most) const;

  /// Saves it where it was loaded from, in one step; waits for the disk. A crash may lose it, but not damage it.
  /// Entries that another process has saved since are kept, but for what is new here.
  /// errors: Errc::local_write_failed; Errc::out_of_resources: another process is saving it
  [[nodiscard]] Status save();

  /// The file's bytes. Total: none where they are not those of a cache.
  [[nodiscard]] static std::optional<HashCache> parse(std::span<const std::byte> bytes, files::FileLocation location);
  [[nodiscard]] std::vector<std::byte> encode() const;

 private:
  struct CacheEntry {
    Fingerprint source{};
    Fingerprint own{};
    files::Digest digest{};
    PathStore::Number path = PathStore::kNone;  // kNone: it was removed
    Age used = 0;
    bool is_new = false;  // since it was loaded or saved
  };

  explicit HashCache(files::FileLocation location) : location_(std::move(location)) {}
  /// put   takes the file piece by piece
  [[nodiscard]] Status encode_to(const std::function<Status(std::span<const std::byte>)>& put) const;

  [[nodiscard]] CacheEntry* at(std::string_view path);
  void put(std::string_view path, CacheEntry entry);
  void drop(CacheEntry& entry);
  [[nodiscard]] bool has_space() const;
  void evict();
  void tidy();
  /// The state of the file when it was loaded or saved: another one is another process' cache.
  using FileState = std::optional<std::array<std::uint64_t, 4>>;
  [[nodiscard]] FileState file_state() const;
  void take_over();

  files::FileLocation location_;
  PathStore paths_;
  std::deque<CacheEntry> entries_;     // in the order in which they were noted
  std::vector<std::uint32_t> places_;  // in entries_, by the numbers of paths; kNone: there is no entry
  std::size_t live_ = 0;               // of entries_
  Age age_ = 0;
  std::optional<Age> full_at_;                    // all entries are of that age
  std::set<std::string, std::less<>> forgotten_;  // since it was loaded or saved
  FileState loaded_;
};

}  // namespace udtcat::trees
