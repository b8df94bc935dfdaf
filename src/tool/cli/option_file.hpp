// SPDX-License-Identifier: Apache-2.0
/// Files of options, one a line: ~/.config/udtcat/config, and the file of --config.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "tool/cli/command_line.hpp"

namespace udtcat::tool {

inline constexpr std::size_t kMaxOptionLines = 4096;  // guess: a service of a thousand ports, with comments

/// A line that is neither empty nor a comment.
struct OptionLine {
  std::string name;  ///< its first word, in lower case
  Words values;      ///< the others
  std::size_t number = 0;
};

///   # a comment
///   rate 400M             # name and value, or `rate = 400M`
///   ssh 'ssh -p 2222'     # quotes make one word of several
///
/// Total and bounded.
/// path     of the file, for errors
/// errors   Errc::bad_argument, naming the file and the line: a control character, an open quote, or a line too many
[[nodiscard]] Result<std::vector<OptionLine>> read_option_lines(std::string_view text, const std::string& path);

/// A word of a command line, and the line of the file that it stands in.
struct OptionWord {
  std::string word;
  std::size_t line = 0;
};

/// The line as a word of a command line: "--rate=400M", "--push", "-4".
/// errors: Errc::bad_argument for several values, for a name with dashes or of one letter
[[nodiscard]] Result<OptionWord> option_word(const OptionLine& line, const std::string& path);

/// Without the lines.
[[nodiscard]] Words words_of(const std::vector<OptionWord>& options);

/// "FILE:LINE", and why it cannot be used.
[[nodiscard]] Error wrong_line(const std::string& path, std::size_t number, std::string why);

/// The line of the option that causes `error`: the last of the shortest prefix of `options` for which `read` gives the
/// same text. None: other words of the command line cause it.
[[nodiscard]] std::optional<std::size_t> line_to_blame(const Error& error, const std::vector<OptionWord>& options,
                                                       const std::function<Status(const Words& some)>& read);

/// The line of the last option whose value stands in `error` ("read /etc/nolist"); none: there is none.
[[nodiscard]] std::optional<std::size_t> line_that_says(const Error& error, const std::vector<OptionWord>& options);

}  // namespace udtcat::tool
