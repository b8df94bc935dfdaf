// SPDX-License-Identifier: Apache-2.0
/// A transfer that has ended, as an event of the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "tool/cli/log_event.hpp"

namespace udtcat::tool {

struct TransferOutcome {
  std::optional<std::string> peer{};  ///< the name of its key pair
  std::string address{};
  std::string object{};                         ///< a path, a service, "stream"
  std::optional<std::string_view> direction{};  ///< none: by the bytes
  std::uint64_t bytes_sent = 0;                 ///< payload
  std::uint64_t bytes_received = 0;
  std::optional<std::uint64_t> files{};  ///< none: it is not of files
  std::chrono::nanoseconds duration{0};
  Status result{};
};

[[nodiscard]] Status status_of(const std::optional<Error>& error);

/// "alice (192.0.2.1:4711)"; the address alone where a peer has no name.
[[nodiscard]] std::string peer_text(const std::optional<std::string>& peer, const std::string& address);

/// "alice (192.0.2.1:4711): photos: 20 files, 80.0 MB received in 0:12"; of one that failed the error before that.
[[nodiscard]] LogEvent transfer_event(const TransferOutcome& transfer);
/// Says in its message what the sum of some transfers is, whose object it forgets.
void describe_many(LogEvent& event);

/// The payload that was moved, and its direction.
void add_bytes(LogEvent& event, const ConnectionStats& moved);
/// An event about the peer of a connection.
[[nodiscard]] LogEvent peer_event(EventKind kind, const Connection& connection);
/// The same, with what the connection has moved since it was made.
[[nodiscard]] TransferOutcome transfer_of(Connection& connection, std::string object, const Status& result);

}  // namespace udtcat::tool
