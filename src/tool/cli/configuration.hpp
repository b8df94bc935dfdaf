// SPDX-License-Identifier: Apache-2.0
/// udtcat --config FILE: a command line that stands in a file.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "tool/cli/command_line.hpp"
#include "tool/cli/option_file.hpp"

namespace udtcat::tool {

///   # /etc/udtcat/db.conf
///   listen 9000               # as -l 9000; at the other end: host db.example, port 9000
///   to localhost:5432         # each option by its long name without dashes
///   key-file /etc/udtcat/key
///   command gridftp gateway   # the command's words, where it has any
///
/// An option may stand several times, as on a command line. No input or output here. Immutable.
class Configuration {
 public:
  /// Total.
  /// path     of the file, for errors
  /// errors   Errc::bad_argument, naming the file and the line
  [[nodiscard]] static Result<Configuration> parse(std::string_view text, const std::string& path);

  /// Empty where the file names none.
  [[nodiscard]] const Words& command() const { return command_; }
  /// The words behind those of the command: where it listens or connects to, then the options.
  [[nodiscard]] Words words() const;
  /// Adds to `error`, the error of a command line that begins with words(), the line of the file that causes it.
  /// read   parses a command line without the command's own words
  [[nodiscard]] Error blame(Error error, const std::function<Status(const Words& words)>& read) const;
  /// Adds to `error`, which is about a file or a key, the line of this file that names it.
  [[nodiscard]] Error blame(Error error) const;
  /// The error of the line that names the command.
  [[nodiscard]] Error wrong_command(std::string why) const { return wrong(command_line_, std::move(why)); }

 private:
  struct Operand {
    std::string text;
    std::size_t line = 0;  // 0: there is none
  };

  [[nodiscard]] Error wrong(std::size_t line, std::string why) const;
  [[nodiscard]] Operand* operand_named(const std::string& name);
  [[nodiscard]] Status check_operands() const;
  [[nodiscard]] Words operands() const;

  std::string path_;
  Words command_;
  std::size_t command_line_ = 0;
  Operand listen_;
  Operand host_;
  Operand port_;
  std::vector<OptionWord> options_;
};

/// Takes "--config FILE" away from the beginning of a command line.
/// returns  FILE; none: it begins with something else
/// errors   Errc::bad_argument where FILE is missing, or a word behind it is no option
[[nodiscard]] Result<std::optional<std::string>> take_config_path(Words& arguments);

}  // namespace udtcat::tool
