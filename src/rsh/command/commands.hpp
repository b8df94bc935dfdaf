// SPDX-License-Identifier: Apache-2.0
/// The commands of remote commands: rsh, and rsh-server, which ssh starts.
#pragma once

#include <optional>

#include "tool/program/command.hpp"

namespace udtcat::rsh {

[[nodiscard]] tool::Commands commands();

/// For programs that name a remote shell by a file alone, as scp and sftp do by -S: the words of UDTCAT_AS_SSH, then
/// those of `argv`. The variable is unset, for ssh and what it starts.
/// returns  none: this is no such call
[[nodiscard]] std::optional<tool::Words> words_as_ssh(const tool::Words& argv);

}  // namespace udtcat::rsh
