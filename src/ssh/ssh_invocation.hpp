// SPDX-License-Identifier: Apache-2.0
/// The command line of ssh: of the user, as far as a program that replaces ssh must understand it, and those that we
/// give ssh: its program and first words, then those of the user, and ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "ssh/control_message.hpp"
#include "ssh/ssh_config.hpp"

namespace udtcat::ssh {

/// The command line `ssh ARGUMENTS`, taken apart. Every option of OpenSSH's ssh(1) is known; only those
/// that we must follow are interpreted.
struct SshArguments {
  std::vector<std::string> options;  ///< for the real ssh, in their order; without -n, -s, -T
  std::string destination;           ///< "[user@]host" or an ssh:// URI; may be an alias
  std::string command;               ///< the words after it, joined by spaces as ssh does; empty: a login shell
  bool is_subsystem = false;         ///< -s: `command` names one
  bool without_input = false;        ///< -n
  bool quiet = false;                ///< -q
  /// Why only ssh itself can do this ("-N", "no command"); empty: we can.
  std::string only_ssh;
};

/// Whether ssh would take the word after `option_word` ("-p", "-vp") for its value.
[[nodiscard]] bool takes_next_word(const std::string& option_word);

/// errors: Errc::bad_argument for an option that ssh does not have, or without its value; for -o without "NAME=VALUE"
[[nodiscard]] Result<SshArguments> parse_ssh_arguments(const std::vector<std::string>& arguments);

struct SshInvocation {
  std::vector<std::string> program;  ///< and its first words
  SshArguments arguments;
};

/// The request that these words are to the far end.
[[nodiscard]] ControlMessage request_of(const SshArguments& arguments);

/// Whether a word of a program's command line is the program ssh.
[[nodiscard]] bool is_ssh(std::string_view word);
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
