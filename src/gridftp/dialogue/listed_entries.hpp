// SPDX-License-Identifier: Apache-2.0
/// The entries of a directory, as a server lists them: the answer to MLSD.  spec: RFC 3659 §7; docs/spec/gridftp.md §9
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

namespace udtcat::gridftp {

/// "Type=file;Size=20;": the facts that matter, behind MLSD and MLST.
struct ListedFacts {
  std::string type;                    ///< in capitals; empty: it is not said
  std::optional<std::uint64_t> bytes;  ///< none: it is not said, or is no number
  bool leads = false;                  ///< a fact of Globus: the entry is a link, and `type` is that of its target
};
[[nodiscard]] ListedFacts parse_facts(std::string_view text);

struct ListedEntry {
  enum class Kind { file, directory, link, special, unsayable };
  std::string name;  ///< of one file in that directory: neither empty, "." nor "..", without '/'; can_be_said(), or
                     ///< unsayable
  Kind kind = Kind::special;
  friend bool operator==(const ListedEntry&, const ListedEntry&) = default;
};

/// The entries in the order of their names, without the directory itself and the one above it. Total.
/// errors: Errc::protocol_violated: a line without its end or without a type, a name that is none or leads elsewhere, a
/// name that appears twice
[[nodiscard]] Result<std::vector<ListedEntry>> parse_listing(std::string_view text);

/// Names that a listing lacks.
struct MissingNames {
  std::size_t with_line_end = 0;
  std::size_t without_status = 0;  ///< whose status cannot be read
  int errno_value = 0;             ///< of the last of those
  [[nodiscard]] std::size_t count() const { return with_line_end + without_status; }
};
/// The text of our server's 226 to a listing.
[[nodiscard]] std::string end_of_listing(const MissingNames& missing);
/// The number of names that end_of_listing() says are missing; 0: none, or another server's reply. Total.
[[nodiscard]] std::size_t missing_names_in(std::string_view end_of_listing);

}  // namespace udtcat::gridftp
