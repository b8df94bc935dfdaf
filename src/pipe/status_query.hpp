// SPDX-License-Identifier: Apache-2.0
/// The asking end of status sockets.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "tool/status/snapshot.hpp"
#include "tool/status/status_place.hpp"

namespace udtcat::pipe {

inline constexpr std::chrono::milliseconds kStatusQueryPatience{2'000};  // guess: eight times what an answer takes

/// The answer of one socket.
struct StatusAnswer {
  std::string path;
  /// errors: Errc::local_connect_failed: this user may not ask; Errc::peer_lost: none came in time, with the cause;
  /// Errc::protocol_violated
  Result<tool::ProcessSnapshot> snapshot;
};

/// Asks all at the same time, and blocks until all have answered or `patience` is over. Of processes
/// that have ended there is no answer; their sockets are removed where this user may.
[[nodiscard]] std::vector<StatusAnswer> ask_for_status(const std::vector<std::string>& paths,
                                                       std::chrono::milliseconds patience = kStatusQueryPatience);

/// Asks those of the host, and again while some were removed that have hidden others: status_sockets() gives no more
/// than so many. Blocks likewise.
[[nodiscard]] std::vector<StatusAnswer> ask_host_for_status(const tool::StatusRoots& roots = {});

}  // namespace udtcat::pipe
