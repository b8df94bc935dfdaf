// SPDX-License-Identifier: Apache-2.0
/// The command lines of `udtcat rsh` and of the far end that it has ssh start. No input or output here.
#pragma once

#include <string>

#include <udtcat/result.hpp>

#include "rsh/remote_command.hpp"
#include "ssh/far_server.hpp"
#include "tool/cli/command_line.hpp"
#include "tool/cli/options.hpp"

namespace udtcat::rsh {

struct RshOptions : RemoteCommandOptions {
  tool::Words ssh_arguments;  ///< as written, without our own options

  [[nodiscard]] bool is_left_to_ssh() const { return !ssh.only_ssh.empty(); }
};

/// errors: Errc::bad_argument
[[nodiscard]] Result<RshOptions> parse_rsh_options(const tool::Words& arguments);
struct RshServerOptions : ssh::FarOptions {
  bool bench = false;  ///< no command: the near end measures
};
/// errors: Errc::bad_argument
[[nodiscard]] Result<RshServerOptions> parse_rsh_server_options(const tool::Words& arguments);

/// Those of ssh too, which users of udtcat rsh may write.
[[nodiscard]] tool::DeclaredOptions rsh_options_declared();

[[nodiscard]] std::string rsh_help_text();

}  // namespace udtcat::rsh
