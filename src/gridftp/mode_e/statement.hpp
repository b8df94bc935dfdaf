// SPDX-License-Identifier: Apache-2.0
/// A server's statement, inside a data session, on what it did with a file.  spec: docs/spec/gridftp.md §8
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "files/byte_ranges.hpp"
#include "gridftp/coroutine/stream_io.hpp"

namespace udtcat::gridftp {

inline constexpr std::size_t kStatementPrefixBytes = 2;                // spec: docs/spec/gridftp.md §8
inline constexpr std::size_t kMaxStatementPathBytes = 4'096;           // spec: Linux PATH_MAX
inline constexpr std::uint64_t kUnknownFileBytes = ~std::uint64_t{0};  // spec: docs/spec/gridftp.md §8

struct Statement {
  enum class Action : std::uint8_t {
    sent = 1,
    stored = 2,     ///< in place, in a file that has its name
    published = 3,  ///< all of a file, which is on the disk and has got its name
  };
  Action action = Action::sent;
  std::uint64_t offset = 0;                      ///< in the file, of what is offset 0 on the wire
  std::uint64_t moved_bytes = 0;                 ///< of payload, by this transfer
  std::uint64_t file_bytes = kUnknownFileBytes;  ///< that the whole file has
  std::string path;                              ///< from the server's root, without "." and ".."
  friend bool operator==(const Statement&, const Statement&) = default;
};

[[nodiscard]] std::vector<std::byte> encode(const Statement& statement);
/// How much follows the first kStatementPrefixBytes.  errors: Errc::protocol_violated
[[nodiscard]] Result<std::size_t> statement_body_bytes(std::span<const std::byte, kStatementPrefixBytes> prefix);
/// Total: any body gives a statement or Errc::protocol_violated.
[[nodiscard]] Result<Statement> decode_statement_body(std::span<const std::byte> body);

/// Whether this end makes, or wants, statements; and what the other end says in SessionOptions::application_data.
enum class Statements : std::uint8_t { none = 0, made = 1, wanted = 2 };
/// The other end's. A number that only a later version knows asks for nothing.
[[nodiscard]] Statements peer_statements(const StreamIo& stream);

/// A client's request, and how much of it has moved.
struct StatementRequest {
  Statement::Action action = Statement::Action::sent;
  std::string path;                       ///< as it was written
  std::optional<files::ByteRange> range;  ///< none: the whole file
  std::uint64_t moved_bytes = 0;
};
/// Whether the server did what was asked for, the whole of it, and nothing else.  errors: Errc::protocol_violated,
/// naming both
[[nodiscard]] Status compare(const StatementRequest& asked, const Statement& said);

}  // namespace udtcat::gridftp
