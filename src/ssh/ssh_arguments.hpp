// SPDX-License-Identifier: Apache-2.0
/// The command line of ssh, as far as a program that replaces ssh must understand it.
#pragma once

#include <string>
#include <vector>

#include <udtcat/result.hpp>

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

}  // namespace udtcat::ssh
