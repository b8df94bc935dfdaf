// SPDX-License-Identifier: Apache-2.0
/// The ranges of a file that have come, for a transfer that is resumed: FILE.part.have beside FILE.part. A FILE.part
/// without a journal is a user's file, unless it is empty.
/// spec: docs/spec/gridftp.md §5
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "files/byte_ranges.hpp"
#include "files/directory_use.hpp"
#include "files/file_location.hpp"

namespace udtcat::gridftp {

/// A journal is valid for the same source, and until the next boot, when written data may be lost. Where boots cannot
/// be told apart, data have to be on the disk before the journal has them.
/// Every call may wait for the disk: see DiskThreads.
/// Threads: unsynchronised.
class RestartJournal {
 public:
  /// identity   of what is transferred: one line, compared as a whole
  /// part       when FILE.part was made, as FileLocation::birth() has it; empty: that is not known
  /// use        counts what is written; null: nobody does
  RestartJournal(files::FileLocation location, std::string identity, std::string part = "",
                 std::shared_ptr<files::DirectoryUse> use = {})
      : location_(std::move(location)), identity_(std::move(identity)), part_(std::move(part)), use_(std::move(use)) {}

  /// None where there is no journal, or one of something else.
  [[nodiscard]] std::optional<files::ByteRanges> load() const;
  /// Data have to be on the disk before save() speaks of them.
  [[nodiscard]] static bool needs_sync();
  /// Replaces the journal atomically.  errors: Errc::local_write_failed, also where a file of the user is there
  [[nodiscard]] Status save(const files::ByteRanges& have) const;
  /// Saves an empty journal: FILE.part stays ours.  errors: as of save()
  [[nodiscard]] Status begin() const;
  /// Does nothing where a file of the user is there.
  void remove() const;
  /// The bytes that count of it for a directory's limit.
  [[nodiscard]] std::uint64_t charged_bytes() const;
  /// Whether a journal is there, of whatever; not behind a link, and under no other name.
  [[nodiscard]] static bool is_at(const files::FileLocation& location);
  /// Whether there is no file of the user, neither there nor at the temporary name of save(). One that is empty, or
  /// has only zeros, is what a power cut leaves of a journal.
  [[nodiscard]] static bool may_be_at(const files::FileLocation& location);
  /// Whether the journal at `location` proves a FILE.part of this birth time to be ours, whatever its source. One
  /// without text (power cut) proves any that is no younger than itself.
  /// birth   of FILE.part; empty: the file system has none
  [[nodiscard]] static bool proves(const files::FileLocation& location, const std::string& birth);

  /// The file's text. Total: what is not a journal of `identity` and `boot` is none.
  [[nodiscard]] static std::string to_text(std::string_view boot, std::string_view identity,
                                           const files::ByteRanges& have, std::string_view part = "");
  [[nodiscard]] static std::optional<files::ByteRanges> parse(std::string_view text, std::string_view boot,
                                                              std::string_view identity);

 private:
  [[nodiscard]] Status keep_proof() const;
  [[nodiscard]] Status write_next(const files::ByteRanges& have) const;
  void remove_at(const files::FileLocation& location) const;

  files::FileLocation location_;
  std::string identity_;
  std::string part_;
  std::shared_ptr<files::DirectoryUse> use_;
};

}  // namespace udtcat::gridftp
