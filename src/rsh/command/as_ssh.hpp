// SPDX-License-Identifier: Apache-2.0
/// For programs that name a remote shell by a file alone, as scp and sftp do by -S: its arguments are in the
/// environment.
#pragma once

#include <optional>

#include "tool/cli/command_line.hpp"

namespace udtcat::rsh {

/// The words of UDTCAT_AS_SSH, then those of `argv`. The variable is unset, for ssh and what it starts.
/// returns  none: this is no such call
[[nodiscard]] std::optional<tool::Words> words_as_ssh(const tool::Words& argv);

}  // namespace udtcat::rsh
