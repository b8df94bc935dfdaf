// SPDX-License-Identifier: Apache-2.0
/// The receiver's memory of files that it has proved, so that neither end reads them again.
/// spec: docs/spec/trees.md §6
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "files/sha256.hpp"
#include "files/stamp.hpp"

namespace udtcat::files {

/// Its word on a file holds only while both ends' files are as they were: nothing is found but by both stamps.
/// Threads: unsynchronised.
class ProofBook {
 public:
  static constexpr std::size_t kMaxEntries = 2'097'152;  // spec: docs/spec/trees.md §6
  static constexpr std::size_t kMaxBytes = 402'653'184;  // spec: docs/spec/trees.md §6
  static constexpr std::size_t kMaxPathBytes = 4'096;    // spec: docs/spec/trees.md §3

  /// Waits for the disk. Without a book, or with a damaged one, an empty one.
  [[nodiscard]] static ProofBook load(const FileLocation& location);

  [[nodiscard]] std::optional<Digest> find(std::string_view path, const Stamp& source, const Stamp& own) const;
  /// Takes the place of what was noted of `path` before. A full book stays as it is, and forgets the path.
  void note(std::string path, const Stamp& source, const Stamp& own, const Digest& digest);
  void forget(std::string_view path);
  [[nodiscard]] std::size_t size() const { return proofs_.size(); }

  /// To where it was loaded from, in one step; waits for the disk. After a crash the book may be gone, but not wrong.
  /// errors: Errc::local_write_failed
  [[nodiscard]] Status save() const;

  /// The file's bytes. Total: none where they are not those of a book.
  [[nodiscard]] static std::optional<ProofBook> parse(std::span<const std::byte> bytes, FileLocation location);
  [[nodiscard]] std::vector<std::byte> encode() const;

 private:
  struct Proof {
    Stamp source{};
    Stamp own{};
    Digest digest{};
  };

  explicit ProofBook(FileLocation location) : location_(std::move(location)) {}
  /// put   takes the file piece by piece
  [[nodiscard]] Status encode_to(const std::function<Status(std::span<const std::byte>)>& put) const;

  FileLocation location_;
  std::map<std::string, Proof, std::less<>> proofs_;
  std::size_t bytes_ = 0;  // of the entries, in the file
};

}  // namespace udtcat::files
