// SPDX-License-Identifier: Apache-2.0
/// The command lines that we give ssh: its program and first words, then those of the user, and ours.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ssh/control_message.hpp"
#include "ssh/ssh_config.hpp"
#include "ssh/ssh_words.hpp"

namespace udtcat::ssh {

struct SshCall {
  std::vector<std::string> program;  ///< and its first words
  SshWords words;
};

/// The request that these words are to the far end.
[[nodiscard]] ControlMessage request_of(const SshWords& words);

/// Whether it is OpenSSH's, by its name; another program may not know -G.
[[nodiscard]] bool is_openssh(const SshCall& call);

/// Asks what ssh would do.
[[nodiscard]] std::vector<std::string> query_words(const SshCall& call);
/// Runs `script` in the place of the command. ssh says on its stdout when it has logged in, and notices a dead path,
/// where the user has not said otherwise.
/// config   none: only what every ssh knows is added
[[nodiscard]] std::vector<std::string> script_words(const SshCall& call, const std::optional<SshConfig>& config,
                                                    const std::string& script);
/// Runs the user's command as ssh alone would.
[[nodiscard]] std::vector<std::string> plain_words(const SshCall& call, const std::optional<SshConfig>& config);

}  // namespace udtcat::ssh
