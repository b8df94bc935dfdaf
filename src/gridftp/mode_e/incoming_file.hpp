// SPDX-License-Identifier: Apache-2.0
/// A file that comes in blocks, in any order, on any number of MODE E connections. See docs/spec/gridftp.md §2.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <udtcat/result.hpp>

#include "files/byte_ranges.hpp"
#include "gridftp/mode_e/block_header.hpp"

namespace udtcat::gridftp {

/// Tracks the ranges that have come and the ends of data; knows neither sockets nor disks.
///
///   receiving ── at each address as many EODs as its EOF said ──► ended     a header that cannot be true ──► an error
///
/// Threads: unsynchronised.
class IncomingFile {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;  // guess: far above any file, far below overflow
  static constexpr std::uint64_t kMaxConnections = 4096;              // guess

  /// expected    which bytes there must be at the end; none: those before the last that comes
  /// have        what is there already
  /// addresses   to how many the sender connects: each gets an EOF of its own
  explicit IncomingFile(std::optional<files::ByteRange> expected, files::ByteRanges have = {},
                        std::size_t addresses = 1)
      : expected_(expected), arrived_(std::move(have)), ends_(addresses) {}

  /// A header has been read from a connection to that address.  errors: Errc::protocol_violated: it lies
  /// outside the file, or contradicts an earlier EOF
  [[nodiscard]] Status on_header(const BlockHeader& header, std::size_t address = 0);
  /// Payload has been stored.  errors: Errc::protocol_violated
  [[nodiscard]] Status on_stored(files::ByteRange range) { return arrived_.add(range); }
  /// A connection to that address has seen its EOD.  errors: Errc::protocol_violated: there are more than the EOF said
  [[nodiscard]] Status on_end_of_data(std::size_t address = 0);

  [[nodiscard]] bool ended() const;
  /// Once ended: nothing that was expected is missing.  errors: Errc::connection_broken, naming the first gap
  [[nodiscard]] Status whole() const;
  [[nodiscard]] const files::ByteRanges& arrived() const { return arrived_; }

 private:
  const std::optional<files::ByteRange> expected_;
  files::ByteRanges arrived_;
  struct Ends {
    std::uint64_t seen = 0;
    std::optional<std::uint64_t> said{};  // by the EOF
  };
  std::vector<Ends> ends_;  // by address
};

}  // namespace udtcat::gridftp
