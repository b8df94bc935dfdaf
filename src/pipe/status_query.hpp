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
  /// errors: Errc::local_connect_failed with the cause, e.g. that this user may not ask; Errc::peer_lost where no
  /// answer came in time; Errc::protocol_violated
  Result<tool::ProcessSnapshot> snapshot;
};

/// Asks all at the same time, and blocks until all have answered or `patience` is over. Dead sockets are removed, and
/// give no answer.
[[nodiscard]] std::vector<StatusAnswer> ask_for_status(const std::vector<std::string>& paths,
                                                       std::chrono::milliseconds patience = kStatusQueryPatience);

/// Asks those of the host, and again where dead ones, which are removed then, were as many as status_sockets() gives:
/// no living one is hidden by them, unless they cannot be removed. Blocks likewise.
[[nodiscard]] std::vector<StatusAnswer> ask_host_for_status(const tool::StatusRoots& roots = {});

}  // namespace udtcat::pipe
