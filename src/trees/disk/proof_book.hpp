// SPDX-License-Identifier: Apache-2.0
/// The receiver's memory of files that it has proved, so that neither end reads them again.
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
#include "trees/disk/path_store.hpp"
#include "trees/disk/stamp.hpp"

namespace udtcat::trees {

/// Its word on a file holds only while both ends' files are as they were: nothing is found but by both stamps. Each
/// proof says at which age of the book it was last of use, and those of long ago make room for new ones.
/// Threads: unsynchronised.
class ProofBook {
 public:
  static constexpr std::size_t kMaxEntries = 2'097'152;  // spec: docs/spec/trees.md §6
  static constexpr std::size_t kMaxBytes = 402'653'184;  // spec: docs/spec/trees.md §6

  /// The times that a book was saved and loaded again, or begun anew.
  using Age = std::uint32_t;

  /// Waits for the disk. Without a book, or with a damaged one, an empty one.
  [[nodiscard]] static ProofBook load(const files::FileLocation& location);

  /// A proof that is found is of use.
  [[nodiscard]] std::optional<files::Digest> find(std::string_view path, const Stamp& source, const Stamp& own);
  /// Takes the place of what was noted of `path` before. A full book forgets some of what was of use at the earliest
  /// ages; where all of it is of this one it stays as it is, and forgets the path.
  /// path   of an entry; others are not noted
  void note(const std::string& path, const Stamp& source, const Stamp& own, const files::Digest& digest);
  void forget(std::string_view path);
  [[nodiscard]] std::size_t size() const { return live_; }
  [[nodiscard]] Age age() const { return age_; }
  /// Proofs that are noted or found from now on are told from those before.
  void grow_older() {
    if (age_ < std::numeric_limits<Age>::max()) ++age_;
  }
  /// Paths of proofs that were of no use since that age, `most` of them at most: each time others, in turn.
  [[nodiscard]] std::vector<std::string> unused_since(Age age, std::size_t most) const;

  /// To where it was loaded from, in one step; waits for the disk. After a crash the book may be gone, but not wrong.
  /// Where another process has saved it since, only what is new here takes the place of what that has.
  /// errors: Errc::local_write_failed; Errc::out_of_resources: another process is saving it
  [[nodiscard]] Status save();

  /// The file's bytes. Total: none where they are not those of a book.
  [[nodiscard]] static std::optional<ProofBook> parse(std::span<const std::byte> bytes, files::FileLocation location);
  [[nodiscard]] std::vector<std::byte> encode() const;

 private:
  struct Proof {
    Stamp source{};
    Stamp own{};
    files::Digest digest{};
    PathStore::Number path = PathStore::kNone;  // kNone: it was forgotten
    Age used = 0;
    bool is_new = false;  // since it was loaded or saved
  };

  explicit ProofBook(files::FileLocation location) : location_(std::move(location)) {}
  /// put   takes the file piece by piece
  [[nodiscard]] Status encode_to(const std::function<Status(std::span<const std::byte>)>& put) const;

  [[nodiscard]] Proof* at(std::string_view path);
  void put(std::string_view path, Proof proof);
  void drop(Proof& proof);
  [[nodiscard]] bool has_room() const;
  void make_room();
  void tidy();
  /// The file's look when it was loaded or saved: another one is another process' book.
  using Look = std::optional<std::array<std::uint64_t, 4>>;
  [[nodiscard]] Look look() const;
  void take_over();

  files::FileLocation location_;
  PathStore paths_;
  std::deque<Proof> proofs_;           // in the order in which they were noted
  std::vector<std::uint32_t> places_;  // in proofs_, by the numbers of paths; kNone: there is no proof
  std::size_t live_ = 0;               // of proofs_
  Age age_ = 0;
  std::optional<Age> full_at_;                    // all of it is of that age
  std::set<std::string, std::less<>> forgotten_;  // since it was loaded or saved
  Look loaded_;
};

}  // namespace udtcat::trees
