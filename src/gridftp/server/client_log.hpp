// SPDX-License-Identifier: Apache-2.0
/// The log's events about one client of the server: what it has sent, stored and changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "gridftp/server/transfer_parameters.hpp"
#include "tool/run/event_log.hpp"

namespace udtcat::gridftp {

/// Clients without a key have as many addresses as they like: all are one for the log's limit.
/// Threads: confined to the io_context thread.
class ClientLog {
 public:
  ClientLog(tool::EventLog& events, const ControlEnds& ends);

  /// Something was made, renamed or removed.
  /// change   in words
  void report_change(const std::string& change, const std::string& path) const;
  /// The client was let in, and cannot be served.
  void report_refusal(const Error& why) const;
  /// A file has ended.
  /// direction   tool::kSent or tool::kReceived
  void report_transfer(std::string_view direction, const std::string& path, std::uint64_t bytes,
                       std::chrono::steady_clock::time_point begun_at, const Status& result) const;

 private:
  [[nodiscard]] std::string series(const char* what) const;

  tool::EventLog& events_;
  const bool is_anonymous_;
  const std::string name_;
  const std::string address_;
  const std::optional<std::string> key_name_;
};

}  // namespace udtcat::gridftp
