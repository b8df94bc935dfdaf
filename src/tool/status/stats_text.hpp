// SPDX-License-Identifier: Apache-2.0
/// Statistics of a run in words: of one connection or several, while it runs and at its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <udtcat/stats.hpp>

namespace udtcat::tool {

/// The statistics at one moment.
struct Sample {
  ConnectionStats stats{};
  std::chrono::nanoseconds elapsed{0};  ///< since the connection was made
};

/// "1.50 GB sent in 5.21 s, 288 MB/s (2.30 Gbit/s), RTT 75.1 ms, 0.10 % lost": the rate both ways together.
[[nodiscard]] std::string summary_line(const Sample& end);

/// "1.50 GB sent in 0:12, RTT 75.1 ms, 0.10 % lost".
[[nodiscard]] std::string stats_text(const Sample& now);

/// Both ways together.
[[nodiscard]] std::uint64_t payload_bytes(const ConnectionStats& stats);
/// "1.50 GB sent, 20.3 kB received"; one of the two where the other is nothing.
[[nodiscard]] std::string payload_text(const ConnectionStats& stats);
/// "RTT 75.1 ms", where one was measured.
[[nodiscard]] std::string rtt_text(const ConnectionStats& stats);
/// The share of the packets sent, 0 to 100.
[[nodiscard]] double lost_per_cent(const ConnectionStats& stats);
/// "no answer for 8 s".
[[nodiscard]] std::string silence_text(const ConnectionStats& stats);
/// "0:07", "1:02:03".
[[nodiscard]] std::string clock_text(std::chrono::nanoseconds elapsed);

}  // namespace udtcat::tool
