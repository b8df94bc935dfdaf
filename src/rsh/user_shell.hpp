// SPDX-License-Identifier: Apache-2.0
/// The meaning of a request on this host: a command line for the user's shell, a subsystem's program.
#pragma once

#include <cstdint>
#include <string>

#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "rsh/control_message.hpp"

namespace udtcat::rsh {

/// Whether a host without udtcat cannot do it: the subsystem trees is one of its commands.
[[nodiscard]] bool needs_udtcat(const ControlMessage& request);

/// The command line that a user's shell is given by -c where there may be no udtcat. Of subsystems only sftp is known.
/// errors: Errc::bad_argument for another, or what is no request; Errc::cannot_reach for one that needs_udtcat()
[[nodiscard]] Result<std::string> command_line_of(const ControlMessage& request);

/// As sshd does it: `$shell -c TEXT` with the shell of the user's account. The subsystem trees is this very program, so
/// that one that was pushed serves, too.
/// errors: Errc::bad_argument as command_line_of(); Errc::local_read_failed where this program does not know its place
[[nodiscard]] Result<bridge::ChildRequest> launch_for_user(const ControlMessage& request,
                                                           std::uint64_t core_limit_bytes);

}  // namespace udtcat::rsh
