// SPDX-License-Identifier: Apache-2.0
/// The meaning of a request on this host: a command line for the user's shell, a subsystem's program.
#pragma once

#include <cstdint>
#include <string>

#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "ssh/control_message.hpp"

namespace udtcat::rsh {

/// The command line for `sh -c` on a host that may have no udtcat. Of subsystems only sftp is known.
/// errors: Errc::bad_argument for another, or what is no request
[[nodiscard]] Result<std::string> command_line_of(const ssh::ControlMessage& request);

/// As sshd does it: `$shell -c TEXT` with the shell of the user's account.  errors: those of command_line_of()
[[nodiscard]] Result<bridge::ChildRequest> launch_for_user(const ssh::ControlMessage& request,
                                                           std::uint64_t core_limit_bytes);

}  // namespace udtcat::rsh
