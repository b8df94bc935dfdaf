// SPDX-License-Identifier: Apache-2.0
/// ~/.config/udtcat/config: a user's options for the hosts he talks to, in ssh_config's manner.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "tool/option_file.hpp"

namespace udtcat::rsh {

/// The form of a line is that of tool/option_file.hpp; beside it there is
///
///   Host backup* !backup9       # patterns with * and ?; one with ! takes back
///     rate 400M                 # a long option's name and, where it has one, its value
///     push
///
/// Lines before the first Host are for every host. Of a name that is given twice for a host the first counts.
///
/// returns  command line words ("--rate=400M", "--push") for `host`
/// errors   Errc::bad_argument with the file and the line
[[nodiscard]] Result<std::vector<tool::OptionWord>> read_user_config(std::string_view text, const std::string& host);

/// An error that names the file and `line`.
[[nodiscard]] Error wrong_user_line(std::size_t line, std::string why);

/// Whether the whole of `host` matches a pattern of * and ?, without regard to case.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view host);

/// The text of the user's file; empty where there is none.
/// errors: Errc::bad_argument for one that cannot be read, or that others may write to
[[nodiscard]] Result<std::string> load_user_config();

}  // namespace udtcat::rsh
