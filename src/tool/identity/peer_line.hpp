// SPDX-License-Identifier: Apache-2.0
/// A line of a peers file: whose key it is, and what its holder may do. See udtcat-keygen(1), PEERS FILE.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/credentials.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

namespace udtcat::tool {

using SystemTime = std::chrono::system_clock::time_point;

struct Peer {
  std::string name;
  PublicKey key;
  std::vector<std::string> purposes{};         ///< none: all
  std::vector<std::string> services{};         ///< by their names in --to; none: all
  std::string directory{};                     ///< below the listener's own; empty: that one
  std::optional<std::uint64_t> limit_bytes{};  ///< of all that is in the directory; none: what the disk has
  BitRate rate{};                              ///< each way; unlimited(): none
  std::optional<SystemTime> valid_after{};     ///< from then on the key is valid; none: it is already
  std::optional<SystemTime> valid_before{};    ///< from then on it no longer is; none: for ever
  bool is_named = true;                        ///< in front of the key; else by the comment behind it
  std::size_t line = 0;
};

[[nodiscard]] bool may(const Peer& peer, std::string_view application);
/// The purposes as they are written in the list; "everything".
[[nodiscard]] std::string purposes_text(const Peer& peer);
/// Whether the key is valid at that time, by `valid_after` and `valid_before`.
[[nodiscard]] bool is_valid_at(const Peer& peer, SystemTime time);
/// "is valid from 2026-12-01", "was valid until 2026-12-01": of a key that is not valid at that time.
[[nodiscard]] std::string dates_text(const Peer& peer, SystemTime time);
/// Whether both may do the same in the same place, whatever their keys and dates are.
[[nodiscard]] bool is_alike(const Peer& one, const Peer& other);

/// "2026-12-01", "2026-12-01T06:00", "2026-12-01T06:00:00Z", or "20261201Z", "202612010600Z", "20261201060000Z", all in
/// UTC; of a date its first moment.
/// returns  none: it is nothing of these
[[nodiscard]] std::optional<SystemTime> parse_date(std::string_view text);
/// The shortest of the first three that says it, to the second.
[[nodiscard]] std::string date_text(SystemTime time);

/// The words of a line, or of another text, between any of `separators`; of a comment, none.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line, std::string_view separators);
/// words   one at least
/// errors: Errc::bad_argument, with the cure as its cause
[[nodiscard]] Result<Peer> parse_peer_line(std::span<const std::string_view> words);

}  // namespace udtcat::tool
