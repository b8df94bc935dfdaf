// SPDX-License-Identifier: Apache-2.0
/// udtcat --config FILE: a command line that stands in a file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "tool/cli/command_line.hpp"

namespace udtcat::tool {

///   # /etc/udtcat/db.conf
///   listen 9000               # as -l 9000; at the other end: host db.example, port 9000
///                             # (listen alone with a via, and none of them at the other end)
///   to = localhost:5432       # each option by its long name without dashes
///   exec 'zfs recv pool/data' # quotes make one word of several
///   command gridftp gateway   # the command's words, where it has any
///
/// An option may stand several times, as on a command line. No input or output here. Immutable.
class Configuration {
 public:
  /// Total and bounded.
  /// path     of the file, for errors
  /// errors   Errc::bad_argument, naming the file, and the line where one is no option
  [[nodiscard]] static Result<Configuration> parse(std::string_view text, const std::string& path);

  /// Empty where the file names none.
  [[nodiscard]] const Words& command() const { return command_; }
  /// The words behind those of the command: where it listens or connects to, then the options.
  [[nodiscard]] Words words() const;

 private:
  [[nodiscard]] Status read_line(std::string line, std::size_t number);
  [[nodiscard]] std::string* operand_named(const std::string& name);
  [[nodiscard]] const char* wrong_operands() const;

  Words command_;
  bool listens_anywhere_ = false;  // by a meeting place no port need be named
  std::string listen_;
  std::string host_;
  std::string port_;
  Words options_;
};

/// Takes "--config FILE" away from the beginning of a command line.
/// returns  FILE; none: it begins with something else
/// errors   Errc::bad_argument where FILE is missing, or a word behind it is no option
[[nodiscard]] Result<std::optional<std::string>> take_config_path(Words& arguments);

}  // namespace udtcat::tool
