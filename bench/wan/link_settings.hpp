// SPDX-License-Identifier: Apache-2.0
/// The settings of one direction of a link, and how they are written on a command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

namespace udtcat::wan {

struct LinkSettings {
  BitRate rate{};                     ///< of IP bytes; unlimited by default
  std::chrono::nanoseconds delay{0};  ///< one way
  double loss = 0;                    ///< the share of segments
  double burst_length = 0;            ///< the mean number lost in a row; 0: each independently
  double reorder = 0;                 ///< the share of segments that come late
  std::chrono::nanoseconds reorder_delay{0};
  double duplicate = 0;  ///< the share of segments that come twice
  /// The queue before the link; tail drop above it. Unset: see effective_queue_bytes().
  std::optional<std::size_t> queue_bytes = std::nullopt;
  std::size_t drop_above_bytes = 0;  ///< longer IP packets vanish without a word: a path MTU black hole; 0: none do

  /// Tail drop begins here. One product of rate and twice the delay, but what a cheap switch has at least.
  [[nodiscard]] std::size_t effective_queue_bytes() const;
};

inline constexpr std::size_t kLeastQueueBytes = 512 * kKiB;  // guess: a small switch's port

/// The two directions, as a person at the near end sees them.
struct PathSettings {
  LinkSettings out;   ///< near to far
  LinkSettings back;  ///< far to near
};

/// Sets one value by the name of its option, without the dashes: "rate", "rtt", "loss", "burst", "reorder",
/// "reorder-delay", "duplicate", "queue", "drop-above". "A/B" sets out to A and back to B, "A" both; rtt is halved
/// between them.
///
/// errors   Errc::bad_argument, which says what is allowed
[[nodiscard]] Status set(PathSettings& path, std::string_view name, std::string_view value);

/// Whether the values go together.
///
/// errors   Errc::bad_argument: losses in bursts so dense that nothing would be between them
[[nodiscard]] Status check(const PathSettings& path);

/// "75ms", "200us", "1.5s".
[[nodiscard]] Result<std::chrono::nanoseconds> parse_delay(std::string_view text);
/// "0.1%", "0", "100%".
[[nodiscard]] Result<double> parse_share(std::string_view text);

}  // namespace udtcat::wan
