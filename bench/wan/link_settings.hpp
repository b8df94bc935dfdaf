// SPDX-License-Identifier: Apache-2.0
/// The settings of one direction of a link, and how they are written on a command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "wan/codel.hpp"
#include "wan/release_gate.hpp"
#include "wan/trace.hpp"

namespace udtcat::wan {

struct LinkSettings {
  BitRate rate{};                                ///< of IP bytes; unlimited by default; the mean of a trace
  std::shared_ptr<const Trace> trace = nullptr;  ///< instead of a rate
  std::chrono::nanoseconds delay{0};             ///< one way
  double loss = 0;                               ///< the share of segments
  double burst_length = 0;                       ///< the mean number lost in a row; 0: each independently
  double reorder = 0;                            ///< the share of segments that come late
  std::chrono::nanoseconds reorder_delay{0};
  double duplicate = 0;  ///< the share of segments that come twice
  /// The queue before the link; tail drop above it. Unset: see effective_queue_bytes().
  std::optional<std::size_t> queue_bytes = std::nullopt;
  std::optional<std::chrono::nanoseconds> queue_time = std::nullopt;  ///< instead: as long as that, as fast as it is
  bool codel = false;                                                 ///< the queue's discipline, beside tail drop
  CodelSettings codel_settings = {};
  BitRate police_rate{};  ///< dropped before the queue above it; none by default
  /// The bucket. Unset: a tenth of a second of the rate, at least 64 KiB.
  std::optional<std::size_t> police_burst_bytes = std::nullopt;
  BitRate flow_rate{};  ///< the same for each flow by itself
  std::optional<std::size_t> flow_burst_bytes = std::nullopt;
  ReleaseInterval release = {};      ///< arrivals come in bursts
  std::size_t drop_above_bytes = 0;  ///< longer IP packets vanish without a word: a path MTU black hole; 0: none do

  /// Tail drop begins here. One product of rate and twice the delay, but what a cheap switch has at least.
  [[nodiscard]] std::size_t effective_queue_bytes() const;
  [[nodiscard]] std::size_t effective_police_burst_bytes() const;
  [[nodiscard]] std::size_t effective_flow_burst_bytes() const;
};

inline constexpr std::size_t kLeastQueueBytes = 512 * kKiB;  // guess: a small switch's port
inline constexpr std::size_t kMostQueueBytes = kGiB;         // guess: 10 Gbit/s for 0.8 s; it is the lab's memory

/// The two directions, as a person at the near end sees them.
struct PathSettings {
  LinkSettings out;   ///< near to far
  LinkSettings back;  ///< far to near
};

/// The name of an option, without the dashes, and its help.
struct SettingHelp {
  std::string name;
  std::string text;
};
/// All that set() knows, in the order in which they are to be set: a trace takes the place of a rate.
[[nodiscard]] std::vector<SettingHelp> settings();

/// Sets one value by its name. "A/B" sets out to A and back to B, "A" both; rtt is halved between them. A trace has
/// "A,B", as names of files have slashes; an empty half leaves its way as it is.
///
/// errors   Errc::bad_argument, which says what is allowed
[[nodiscard]] Status set(PathSettings& path, std::string_view name, std::string_view value);

inline constexpr std::size_t kMostPaths = 16;  // guess: a switch has 4 to 16 by default

/// The number of one of `paths`, written from 1 on; returns it from 0 on.
///
/// errors   Errc::bad_argument
[[nodiscard]] Result<std::size_t> parse_path(std::string_view text, std::size_t paths);

/// Sets one value of one path by "2:NAME", or of all by "NAME".
///
/// errors   Errc::bad_argument, which says what is allowed; nothing is changed then
[[nodiscard]] Status set(std::vector<PathSettings>& paths, std::string_view name, std::string_view value);

/// The same, written as "2:loss=5%".
///
/// errors   as set(); Errc::bad_argument where no path is named
[[nodiscard]] Status set_of_one_path(std::vector<PathSettings>& paths, std::string_view assignment);

/// Whether the values go together.
///
/// errors   Errc::bad_argument: losses in bursts so dense that nothing would be between them
[[nodiscard]] Status check(const PathSettings& path);

/// "75ms", "200us", "1.5s".
[[nodiscard]] Result<std::chrono::nanoseconds> parse_delay(std::string_view text);
/// "0.1%", "0", "100%".
[[nodiscard]] Result<double> parse_share(std::string_view text);
/// "8ms", "4ms-20ms", "4-20": a bare number is of milliseconds; "0" for none.
[[nodiscard]] Result<ReleaseInterval> parse_release(std::string_view text);

}  // namespace udtcat::wan
