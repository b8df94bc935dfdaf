// SPDX-License-Identifier: Apache-2.0
/// ~/.config/udtcat/config: a user's options for his commands and the hosts that they go to, in ssh_config's manner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "tool/cli/option_file.hpp"

namespace udtcat::tool {

/// The word by which the file calls the command that has no word: a pipe, a forward.
inline constexpr const char* kPipeWord = "pipe";

/// The form of a line is that of option_file.hpp; beside it there are
///
///   Host backup* !backup9       # patterns with * and ?; one with ! takes back
///     rate 400M                 # a long option's name and, where it has one, its value
///   Command gridftp get         # until the next such line: of that command, and not of udtcat rsh
///     parallelism 8
///
/// Lines before the first Host, and before that of a Command, are for every host. Of a name that is given twice for a
/// command and a host the first counts.
///
/// all      the words of every command: others are an error
/// command  one of them: {"gridftp", "get"}; none for a pipe or a forward
/// host     to which it goes; empty: it waits, and no Host matches
/// returns  command line words ("--rate=400M", "--push")
/// errors   Errc::bad_argument with the file and the line
[[nodiscard]] Result<std::vector<OptionWord>> read_user_config(std::string_view text, const std::vector<Words>& all,
                                                               const Words& command, const std::string& host);

/// An error that names the file and `line`.
[[nodiscard]] Error wrong_user_line(std::size_t line, std::string why);

/// Whether the whole of `host` matches a pattern of * and ?, without regard to case.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view host);

/// The text of the user's file; empty where there is none.
/// errors: Errc::bad_argument for one that cannot be read, or that others may write to
[[nodiscard]] Result<std::string> load_user_config();

}  // namespace udtcat::tool
