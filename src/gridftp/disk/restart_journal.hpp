// SPDX-License-Identifier: Apache-2.0
/// The ranges of a file that have come, kept for a transfer that goes on after a cut: FILE.part.have beside FILE.part.
/// It is the proof that FILE.part is ours, too: without one that is a user's file.
/// spec: docs/spec/gridftp.md §5
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "files/byte_ranges.hpp"
#include "files/file_location.hpp"

namespace udtcat::gridftp {

/// A journal holds only for the same source, and only until the machine is started anew, when written data may be lost.
/// Where the system does not tell one start from another, data have to be on the disk before the journal has them.
/// Every call may wait for the disk: see DiskThreads.
/// Threads: unsynchronised.
class RestartJournal {
 public:
  /// identity   of what is transferred: one line, compared as a whole
  /// part       when FILE.part was made, as FileLocation::birth() has it; empty: that is not known
  RestartJournal(files::FileLocation location, std::string identity, std::string part = "")
      : location_(std::move(location)), identity_(std::move(identity)), part_(std::move(part)) {}

  /// None where there is no journal, or one of something else.
  [[nodiscard]] std::optional<files::ByteRanges> load() const;
  /// Data have to be on the disk before save() speaks of them.
  [[nodiscard]] static bool needs_sync();
  /// Takes the place of what was saved before, in one step.  errors: Errc::local_write_failed, also where somebody
  /// else's file is there
  [[nodiscard]] Status save(const files::ByteRanges& have) const;
  /// Whatever was saved before holds no more; FILE.part stays proved.  errors: as of save()
  [[nodiscard]] Status begin() const;
  /// Nothing happens where somebody else's file is.
  void remove() const;
  /// Whether a journal is there, of whatever; not behind a link, and under no other name.
  [[nodiscard]] static bool is_at(const files::FileLocation& location);
  /// Whether nothing of somebody else's is there, nor where save() writes first.
  [[nodiscard]] static bool may_be_at(const files::FileLocation& location);
  /// When the FILE.part was made that a journal proves, be it of whatever source; empty: the journal does not tell.
  /// none: no journal is there
  [[nodiscard]] static std::optional<std::string> part_proved_at(const files::FileLocation& location);

  /// The file's text. Total: what is not a journal of `identity` and `boot` is none.
  [[nodiscard]] static std::string to_text(std::string_view boot, std::string_view identity,
                                           const files::ByteRanges& have, std::string_view part = "");
  [[nodiscard]] static std::optional<files::ByteRanges> parse(std::string_view text, std::string_view boot,
                                                              std::string_view identity);

 private:
  [[nodiscard]] Status write_next(const files::ByteRanges& have) const;

  files::FileLocation location_;
  std::string identity_;
  std::string part_;
};

}  // namespace udtcat::gridftp
