// SPDX-License-Identifier: Apache-2.0
/// The options of commands whose other end ssh starts, and of that end. No input or output here.
#pragma once

#include <chrono>
#include <string>

#include <udtcat/result.hpp>

#include "ssh/far_server.hpp"
#include "ssh/ssh_dial.hpp"
#include "tool/cli/command_line.hpp"

namespace udtcat::ssh {

/// Time in which a far end that ssh has started answers on UDP where it can: two handshakes at half a second.
inline constexpr std::chrono::milliseconds kUdpTimeout{3'000};  // guess

/// Refuses a [USER@]HOST for which ssh would print its usage, or look up a wrong name.  errors: Errc::bad_argument
[[nodiscard]] Status check_destination(const std::string& text);
/// "host" of "user@host", "[user@]host", "ssh://user@host:22/".
[[nodiscard]] std::string host_of(std::string destination);

/// --port, --udp-host, --remote-udtcat, --ssh, --push
void add_ssh_dial_options(tool::CommandLine& line, SshDialOptions& options);
/// --progress, --no-progress of a push, which is shown where a person watches; the session's progress is shown on
/// request only, as its user may have the terminal.
void add_push_progress_options(tool::CommandLine& line, SshDialOptions& options);
/// Once the line was read: the far end's options, those in which both must agree, and those in which it does as we do;
/// and the timeout with UDP, unless --connect-timeout says it.
void finish_ssh_dial_options(const tool::CommandLine& line, SshDialOptions& options);

/// --require-udp: neither TCP nor ssh carries anything.  errors: Errc::bad_argument with --transport tcp
[[nodiscard]] Status require_udp(SshDialOptions& options);

/// The options of a far end that ssh starts, from the near end's finish_ssh_dial_options().
void add_far_options(tool::CommandLine& line, FarOptions& options);
/// The options of its session, which always has a key.
void add_far_session_options(tool::CommandLine& line, tool::Options& options);

}  // namespace udtcat::ssh
