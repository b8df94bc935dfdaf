// SPDX-License-Identifier: Apache-2.0
/// The command lines that we give ssh: its program and first words, then those of the user, and ours.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ssh/control_message.hpp"
#include "ssh/ssh_arguments.hpp"
#include "ssh/ssh_config.hpp"

namespace udtcat::ssh {

struct SshInvocation {
  std::vector<std::string> program;  ///< and its first words
  SshArguments arguments;
};

/// The request that these words are to the far end.
[[nodiscard]] ControlMessage request_of(const SshArguments& arguments);

/// Whether it is OpenSSH's, by its name; another program may not know -G.
[[nodiscard]] bool is_openssh(const SshInvocation& invocation);

[[nodiscard]] std::vector<std::string> query_argv(const SshInvocation& invocation);
/// Runs `script` in the place of the command. ssh says on its stdout when it has logged in, and notices a dead path,
/// where the user has not said otherwise.
/// config   none: only what every ssh knows is added
[[nodiscard]] std::vector<std::string> script_argv(const SshInvocation& invocation,
                                                   const std::optional<SshConfig>& config, const std::string& script);
/// Runs the user's command as ssh alone would.
[[nodiscard]] std::vector<std::string> plain_argv(const SshInvocation& invocation,
                                                  const std::optional<SshConfig>& config);

}  // namespace udtcat::ssh
