// SPDX-License-Identifier: Apache-2.0
/// Commands of an FTP client.  spec: RFC 959 §5.3
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

namespace udtcat::gridftp {

struct FtpCommand {
  std::string verb;      ///< in capitals
  std::string argument;  ///< as it was written, without the blank in front
  friend bool operator==(const FtpCommand&, const FtpCommand&) = default;
};

/// With ASCII letters as capitals: commands and their options are told apart without case.  spec: RFC 959 §5.3
[[nodiscard]] std::string to_upper(std::string_view text);

/// Takes bytes as they come and gives commands. Total: any bytes give commands, or an error once a line is too long.
/// Telnet's control bytes, which some clients send before ABOR, are dropped.
/// Threads: unsynchronised.
class CommandReader {
 public:
  static constexpr std::size_t kMaxBytes = 131'072;  // spec: docs/spec/gridftp.md §4, for REST with some 4000 ranges

  void push(std::string_view bytes);
  /// Bytes pushed that no command has taken.
  [[nodiscard]] std::size_t waiting_bytes() const { return arrived_.size() - taken_; }
  /// returns  none: more bytes are needed.  errors: Errc::protocol_violated, from then on each time
  [[nodiscard]] Result<std::optional<FtpCommand>> next();

 private:
  std::string arrived_;
  std::size_t taken_ = 0;     // of arrived_: lines that have been given
  std::size_t searched_ = 0;  // of arrived_: there is no further line end before
  bool failed_ = false;
};

}  // namespace udtcat::gridftp
