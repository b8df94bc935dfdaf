/// What of a file has come, for whoever goes on after a cut: FILE.part.have beside FILE.part.  spec: docs/spec/gridftp.md §5
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "gridftp/byte_ranges.hpp"
#include "gridftp/file_place.hpp"

namespace udtcat::gridftp {

/// What it says holds only for the same source, and only until the machine is started anew: what was written may by then be lost.
/// Threads: unsynchronised.
class RestartJournal {
 public:
  /// identity   of what is transferred: one line, compared as a whole
  RestartJournal(FilePlace place, std::string identity) : place_(std::move(place)), identity_(std::move(identity)) {}

  /// Empty where there is no journal, or one of something else.
  [[nodiscard]] ByteRanges load() const;
  /// Takes the place of what was saved before, in one step.  errors: Errc::local_write_failed
  [[nodiscard]] Status save(const ByteRanges& have) const;
  void remove() const { place_.remove(); }

  /// The file's text. Total: what is not a journal of `identity` and `boot` has nothing.
  [[nodiscard]] static std::string to_text(std::string_view boot, std::string_view identity, const ByteRanges& have);
  [[nodiscard]] static ByteRanges parse(std::string_view text, std::string_view boot, std::string_view identity);

 private:
  FilePlace place_;
  std::string identity_;
};

}  // namespace udtcat::gridftp
