// SPDX-License-Identifier: Apache-2.0
/// For programs that name a remote shell by a file alone, as scp and sftp do by -S. The environment has its words.
#pragma once

#include <optional>

#include "tool/cli/command_line.hpp"

namespace udtcat::rsh {

/// The command line in the place of `argv` where UDTCAT_AS_SSH says so: its words, then those of argv. The variable is
/// taken away: ssh and what it starts are not meant.
/// returns  none: this is no such call
[[nodiscard]] std::optional<tool::Words> words_as_ssh(const tool::Words& argv);

}  // namespace udtcat::rsh
