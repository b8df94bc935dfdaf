// SPDX-License-Identifier: Apache-2.0
/// The line with the far end's port and key, among other text on ssh's stdout. Text: docs/spec/rsh.md §1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/key.hpp>

namespace udtcat::ssh {

inline constexpr std::size_t kMaxLineBytes = 4096;  // spec: docs/spec/rsh.md §1

inline constexpr std::string_view kLoginLine = "UDTCAT LOGIN 1";
inline constexpr std::string_view kScriptLine = "UDTCAT SCRIPT 1";

/// The far end waits; its key is for one command.
struct ConnectLine {
  std::uint16_t port = 0;  ///< 0: none was free there
  Key key;
  std::vector<Endpoint> addresses;  ///< of the far host, that which its ssh server saw first; with `port`
};
struct MissingLine {
  std::string system;  ///< "Linux x86_64"
};
struct UnusableLine {
  std::string why;  ///< the loader's message
};
struct OtherVersionLine {
  std::string version;
};
/// ssh has logged in: its own LocalCommand says so, before a byte of the far side.
struct LoginLine {};
/// The login is a shell, in which our script has begun.
struct ScriptLine {};
/// The program that is being pushed is there in part.
struct HaveLine {
  std::uint64_t bytes = 0;  ///< unpacked
};

/// "\nUDTCAT CONNECT 1 9000 udtcat1-… 192.0.2.1\n": the first newline ends whatever noise came before.
[[nodiscard]] std::string to_text(const ConnectLine& line);

/// Finds the far end's lines on ssh's stdout among all others.
/// Threads: unsynchronised.
class GreetingReader {
 public:
  using Line = std::variant<ConnectLine, MissingLine, UnusableLine, OtherVersionLine, LoginLine, ScriptLine, HaveLine>;

  /// Keeps `text` until next() has taken it.
  void push(std::string_view text) { arrived_ += text; }
  /// From now on HAVE lines of up to `bytes` are the far end's. Others are noise.
  void expect_program(std::uint64_t bytes) { program_bytes_ = bytes; }
  /// The far end's next line; none: more text is needed. Nothing is read beyond it.
  [[nodiscard]] std::optional<Line> next();
  /// The text before the greeting that is not ours, once: a banner, a login script's chatter. Whole lines; with `all`,
  /// what is left as well.
  [[nodiscard]] std::string take_noise(bool all = false);
  [[nodiscard]] std::size_t noise_bytes() const { return noise_.size(); }

 private:
  [[nodiscard]] std::optional<Line> parse(std::string_view line) const;

  std::string arrived_;
  std::string noise_;
  std::optional<std::uint64_t> program_bytes_;  // none: none is pushed
};

}  // namespace udtcat::ssh
