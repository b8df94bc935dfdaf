// SPDX-License-Identifier: Apache-2.0
/// Figures of a run: of one connection or several, for people while it runs, for programs at its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <udtcat/connection.hpp>
#include <udtcat/options.hpp>

#include "tool/cli/exit_status.hpp"
#include "tool/status/why.hpp"

namespace udtcat::tool {

/// The figures at one moment.
struct Sample {
  ConnectionStats stats{};
  std::chrono::nanoseconds elapsed{0};  ///< since the connection was made
};

/// "1.50 GB sent in 5.21 s, 288 MB/s (2.30 Gbit/s), RTT 75.1 ms, 0.10 % lost": the rate both ways together.
[[nodiscard]] std::string summary_line(const Sample& end);

/// "1.50 GB sent in 0:12, RTT 75.1 ms, 0.10 % lost".
[[nodiscard]] std::string figures_text(const Sample& now);

/// Both ways together.
[[nodiscard]] std::uint64_t payload_bytes(const ConnectionStats& stats);
/// "1.50 GB sent, 20.3 kB received"; one of the two where the other is nothing.
[[nodiscard]] std::string payload_text(const ConnectionStats& stats);
/// "RTT 75.1 ms", where one was measured.
[[nodiscard]] std::string rtt_text(const ConnectionStats& stats);
/// Of the packets sent, 0 to 100.
[[nodiscard]] double lost_per_cent(const ConnectionStats& stats);
/// "no answer for 8 s".
[[nodiscard]] std::string silence_text(const ConnectionStats& stats);
/// "0:07", "1:02:03".
[[nodiscard]] std::string clock_text(std::chrono::nanoseconds elapsed);

/// Counts are added; everything else is that of `latest`.
[[nodiscard]] ConnectionStats sum(const ConnectionStats& so_far, const ConnectionStats& latest);

struct RunReport {
  Sample end;
  std::chrono::microseconds cpu{0};  ///< of this process, all threads, user and system
  TransportKind transport = TransportKind::native;
  CongestionKind congestion = CongestionKind::bbr;
  Protection protection = Protection::private_;
  std::string peer;       ///< empty where there was none
  std::string peer_name;  ///< by its key pair; empty where it has none
  ExitStatus exit_status = ExitStatus::success;
  std::string exit_reason;  ///< "complete", or the error's text
  Why limited_by;
};

/// One line, an object. Docs: udtcat-status(1), "JSON".
[[nodiscard]] std::string to_json(const RunReport& report);

/// The CPU time of this process so far.
[[nodiscard]] std::chrono::microseconds process_cpu_time();

}  // namespace udtcat::tool
