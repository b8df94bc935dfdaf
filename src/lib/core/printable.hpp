// SPDX-License-Identifier: Apache-2.0
/// Text from a peer, made fit for a terminal and a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace udtcat::core {

inline constexpr std::size_t kShownBytes = 200;  // guess: of a name or a command: three lines of a terminal

/// Valid UTF-8 of at most `max_bytes`: control characters (C0, DEL, C1) and malformed bytes become '?', and the text is
/// cut between characters. Total and idempotent.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes);

}  // namespace udtcat::core
