// SPDX-License-Identifier: Apache-2.0
/// Replies of an FTP server.  spec: RFC 959 §4.2
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

namespace udtcat::gridftp {

struct Reply {
  int code = 0;
  std::vector<std::string> lines;  ///< without codes at the first and the last, without line ends

  [[nodiscard]] bool is_preliminary() const { return code < 200; }
  [[nodiscard]] bool is_completion() const { return code >= 200 && code < 300; }
  [[nodiscard]] bool is_intermediate() const { return code >= 300 && code < 400; }
  /// For a person: one line, printable.
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] Reply make_reply(int code, std::string text);

/// "226 Transfer complete.", or with several lines "211-Extensions", …, "211 End".
[[nodiscard]] std::string to_wire(const Reply& reply);

/// How a line of a server's begins: its code, and whether lines of the same reply follow. Total.
struct ReplyStart {
  int code = 0;
  bool continues = false;
};
/// none: it begins no reply, and ends none
[[nodiscard]] std::optional<ReplyStart> read_reply_start(std::string_view line);

/// Takes bytes as they come and gives replies. Total: any bytes give replies or a violation.
/// Threads: unsynchronised.
class ReplyReader {
 public:
  static constexpr std::size_t kMaxBytes = 1 * kMiB;  // guess: Globus' longest, a range a block, is some 10 KB

  void push(std::string_view bytes) { arrived_ += bytes; }
  /// returns  none: more bytes are needed.  errors: Errc::protocol_violated, from then on each time
  [[nodiscard]] Result<std::optional<Reply>> next();

 private:
  [[nodiscard]] Result<std::optional<Reply>> take(const std::string& line);

  std::string arrived_;
  std::size_t searched_ = 0;      // of arrived_: there is no line end before
  std::optional<Reply> pending_;  // begun, its last line not seen
  std::size_t pending_bytes_ = 0;
  bool failed_ = false;
};

}  // namespace udtcat::gridftp
