// SPDX-License-Identifier: Apache-2.0
/// Figures of a run: of one connection or several, for people while it runs, for programs at its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <udtcat/connection.hpp>
#include <udtcat/options.hpp>

#include "tool/exit_status.hpp"

namespace udtcat::tool {

/// The figures at one moment.
struct Sample {
  ConnectionStats stats{};
  std::chrono::nanoseconds elapsed{0};  ///< since the connection was made
};

/// "1.50 GiB sent, 0 B received, 2.31 Gbit/s, 0:12, RTT 75.1 ms, 0.10 % lost": the rate since `before`, both ways
/// together.
[[nodiscard]] std::string progress_line(const Sample& before, const Sample& now);
/// "1.50 GiB sent, 0 B received in 5.21 s, 2.47 Gbit/s, RTT 75.1 ms, 0.10 % lost".
[[nodiscard]] std::string summary_line(const Sample& end);

/// "1.50 GiB sent, 0 B received in 0:12, RTT 75.1 ms, 0.10 % lost".
[[nodiscard]] std::string figures_text(const Sample& now);

/// Both ways together.
[[nodiscard]] std::uint64_t payload_bytes(const ConnectionStats& stats);
/// "1.50 GiB sent, 0 B received".
[[nodiscard]] std::string payload_text(const ConnectionStats& stats);
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
};

/// One line, an object. Docs: udtcat(1), "--stats".
[[nodiscard]] std::string to_json(const RunReport& report);

/// The CPU time of this process so far.
[[nodiscard]] std::chrono::microseconds process_cpu_time();

}  // namespace udtcat::tool
