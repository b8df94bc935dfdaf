/// Figures of a running connection, for people. Pure: time and figures in, text out.
#pragma once

#include <chrono>
#include <string>

#include <udtcat/connection.hpp>

namespace udtcat::tool {

/// The figures at one moment.
struct Sample {
  ConnectionStats stats{};
  std::chrono::nanoseconds elapsed{0};  ///< since the connection was made
};

/// "1.50 GiB sent, 0 B received, 2.31 Gbit/s, 0:12, RTT 75.1 ms, 0.10 % lost": the rate since `before`, both ways together.
[[nodiscard]] std::string progress_line(const Sample& before, const Sample& now);
/// "1.50 GiB sent, 0 B received in 5.21 s, 2.47 Gbit/s, RTT 75.1 ms, 0.10 % lost".
[[nodiscard]] std::string summary_line(const Sample& end);

/// "0:07", "1:02:03".
[[nodiscard]] std::string clock_text(std::chrono::nanoseconds elapsed);

}  // namespace udtcat::tool
