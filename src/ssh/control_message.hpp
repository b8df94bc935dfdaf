// SPDX-License-Identifier: Apache-2.0
/// Messages between a near end and a far end that ssh has started, over ssh's pipes or on a stream; and the streams of
/// a remote command. Bytes: docs/spec/rsh.md §2, §3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

namespace udtcat::ssh {

// The near end opens all four at once, in this order.  spec: docs/spec/rsh.md §2
inline constexpr StreamId kControlStream = 0;
inline constexpr StreamId kInputStream = 2;
inline constexpr StreamId kOutputStream = 4;
inline constexpr StreamId kErrorStream = 6;

inline constexpr std::size_t kMaxTextBytes = 131'071;  // spec: docs/spec/rsh.md §3; Linux takes no longer word in argv

/// Near to far, first: a command line for the user's shell.
struct RunCommand {
  std::string text;
};
/// Near to far, first: a subsystem by its name, as "sftp" or "trees".
struct RunSubsystem {
  std::string name;
};
/// Near to far: a signal by its name, without SIG.
struct DeliverSignal {
  std::string name;
};
struct CarryDatagrams {};
struct Started {};
/// Far to near, last: it has ended by itself.
struct Exited {
  std::uint8_t status = 0;
};
/// Far to near, last: a signal has ended it.
struct Killed {
  std::string signal_name;
  bool dumped_core = false;
};
/// Far to near, last: it could not be run.
struct NotRun {
  std::string reason;
};

using ControlMessage =
    std::variant<RunCommand, RunSubsystem, DeliverSignal, CarryDatagrams, Started, Exited, Killed, NotRun>;

/// Texts longer than kMaxTextBytes are the caller's to refuse.
[[nodiscard]] std::vector<std::byte> encode(const ControlMessage& message);

/// Takes bytes as they come and gives messages. Total: any bytes give messages or a violation.
/// Threads: unsynchronised.
class ControlReader {
 public:
  static constexpr std::size_t kHeaderBytes = 4;

  /// How many bytes of a message `header` announces to follow it.  errors: Errc::protocol_violated
  [[nodiscard]] static Result<std::size_t> body_bytes(std::span<const std::byte, kHeaderBytes> header);

  /// Keeps at most one message: call next() until it gives none.
  void push(std::span<const std::byte> bytes) { arrived_.insert(arrived_.end(), bytes.begin(), bytes.end()); }
  /// returns  none: more bytes are needed.  errors: Errc::protocol_violated, from then on each time
  [[nodiscard]] Result<std::optional<ControlMessage>> next();

 private:
  std::vector<std::byte> arrived_;
};

/// "INT" of SIGINT, as RFC 4254 §6.9 names them; none for signals it does not name.
[[nodiscard]] std::optional<std::string> signal_name(int number);
/// 15 of "TERM"; none for other names than those of signal_name().
[[nodiscard]] std::optional<int> signal_number(std::string_view name);

}  // namespace udtcat::ssh
