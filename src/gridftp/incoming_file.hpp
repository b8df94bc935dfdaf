/// A file that comes in blocks, in any order, on any number of MODE E connections. See docs/spec/gridftp.md §2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <udtcat/result.hpp>

#include "gridftp/block_header.hpp"
#include "gridftp/byte_ranges.hpp"

namespace udtcat::gridftp {

/// Keeps account of what has come and what must still come; knows neither sockets nor disks.
///
///   receiving ── as many EODs as the EOF said ──► complete        a header that cannot be true ──► an error
///
/// Threads: unsynchronised.
class IncomingFile {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;  // guess: far above any file, far below overflow
  static constexpr std::uint64_t kMostConnections = 4096;              // guess

  /// expected   which bytes must come; none: whatever comes before the end
  explicit IncomingFile(std::optional<ByteRange> expected) : expected_(expected) {}

  /// A header has been read from a connection.  errors: Errc::protocol_violated: it lies
  /// outside the file, or contradicts an earlier EOF
  [[nodiscard]] Status on_header(const BlockHeader& header);
  /// Payload has been stored.  errors: Errc::protocol_violated
  [[nodiscard]] Status on_stored(ByteRange range) { return arrived_.add(range); }
  /// A connection has seen its EOD.  errors: Errc::protocol_violated: there are more than the EOF said
  [[nodiscard]] Status on_end_of_data();

  /// Every EOD has come.
  [[nodiscard]] bool ended() const { return eods_expected_ == eods_; }
  /// Once ended: nothing that was expected is missing.  errors: Errc::connection_broken, naming the first gap
  [[nodiscard]] Status whole() const;
  [[nodiscard]] const ByteRanges& arrived() const { return arrived_; }

 private:
  const std::optional<ByteRange> expected_;
  ByteRanges arrived_;
  std::uint64_t eods_ = 0;
  std::optional<std::uint64_t> eods_expected_;
};

}  // namespace udtcat::gridftp
