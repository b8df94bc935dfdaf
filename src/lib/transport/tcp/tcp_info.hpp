// SPDX-License-Identifier: Apache-2.0
/// TCP_INFO: the system's knowledge of a connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace udtcat::transport::tcp {

/// Zero where the system is too old to tell.
struct TcpInfo {
  bool established = false;  ///< both directions are open
  bool gone = false;         ///< reset, or ended in both directions
  std::chrono::microseconds rtt{0};
  std::chrono::microseconds least_rtt{0};
  std::chrono::milliseconds silence{0};  ///< since a packet of the peer's came
  unsigned unanswered = 0;               ///< sent again, or asked, since then
  std::uint64_t packets_sent = 0;        ///< with data, also those sent again
  std::uint64_t packets_resent = 0;
  std::uint64_t packets_late = 0;
  std::uint64_t packets_unacknowledged = 0;
  std::uint64_t bytes_acknowledged = 0;
  std::uint64_t bytes_arrived = 0;
  std::uint64_t bytes_per_second = 0;            ///< delivered, as last measured
  bool limited_by_source = false;                ///< that measurement was: the path carries more, perhaps
  std::chrono::microseconds limited_by_peer{0};  ///< so long the peer's window was full
};

/// none: the descriptor is none of TCP
[[nodiscard]] std::optional<TcpInfo> tcp_info_of(int descriptor);

/// Bytes that the peer's transport has not acknowledged, an end of the stream counts as one.
[[nodiscard]] std::uint64_t unacknowledged_bytes(int descriptor);

}  // namespace udtcat::transport::tcp
