// SPDX-License-Identifier: Apache-2.0
/// The command lines of `udtcat rsh`, of the far end that it has ssh start, and of the daemon. No input or output here.
#pragma once

#include <chrono>
#include <string>

#include <udtcat/result.hpp>

#include "rsh/remote_command.hpp"
#include "rsh/rsh_server.hpp"
#include "tool/command_line.hpp"
#include "tool/options.hpp"

namespace udtcat::rsh {

/// "9000" or "9000-9100".  errors: Errc::bad_argument
[[nodiscard]] Result<PortRange> parse_port_range(const std::string& text);

/// Mistakes in [USER@]HOST that ssh answers with its usage, or with the name of no host.
[[nodiscard]] Status check_destination(const std::string& text);

struct RshOptions : RemoteCommandOptions {
  bool help = false;          ///< nothing else then
  bool daemon = false;        ///< no ssh: a daemon waits at the host
  tool::Words ssh_arguments;  ///< as written, without our own options

  [[nodiscard]] bool is_left_to_ssh() const { return !ssh.only_ssh.empty() && !daemon; }
};

/// Time in which a far end that ssh has started answers on UDP where it can: two handshakes at half a second.
inline constexpr std::chrono::milliseconds kUdpPatience{3'000};  // guess

/// Of whatever ssh starts: --port, --udp-host, --remote-udtcat, --ssh, --push, --progress, --no-progress. A push shows
/// progress where a person watches; the session, whose user has the terminal, on request only.
void add_ssh_dial_options(tool::CommandLine& line, SshDialOptions& options);
/// The options of the far end: those in which both must agree, and those in which it does as we do.
[[nodiscard]] tool::Words far_options_of(const tool::CommandLine& line, const SshDialOptions& options);

/// errors: Errc::bad_argument
[[nodiscard]] Result<RshOptions> parse_rsh_options(const tool::Words& arguments);
/// The host that these go to, without its user; empty where they name none.
[[nodiscard]] std::string destination_of(const tool::Words& arguments);

/// errors: Errc::bad_argument
[[nodiscard]] Result<RshServerOptions> parse_rsh_server_options(const tool::Words& arguments);

struct DaemonOptions : tool::Options {
  bool help = false;  ///< nothing else then
  std::string allow;  ///< the file that lists the commands
};
/// errors: Errc::bad_argument
[[nodiscard]] Result<DaemonOptions> parse_rsh_daemon_options(const tool::Words& arguments);

/// Those of ssh too, which users of udtcat rsh may write.
[[nodiscard]] tool::DeclaredOptions rsh_options_declared();
[[nodiscard]] tool::DeclaredOptions rsh_daemon_options_declared();

[[nodiscard]] std::string rsh_help_text();
[[nodiscard]] std::string rsh_daemon_help_text();

}  // namespace udtcat::rsh
