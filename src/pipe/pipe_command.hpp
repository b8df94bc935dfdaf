// SPDX-License-Identifier: Apache-2.0
/// udtcat HOST PORT and udtcat -l [ADDR:]PORT: stdin and stdout, or a command, as one stream of a session, or bare.
#pragma once

#include "pipe/pipe_options.hpp"
#include "tool/cli/console.hpp"
#include "tool/cli/exit_status.hpp"
#include "tool/identity/credential_lookup.hpp"

namespace udtcat::pipe {

[[nodiscard]] tool::ExitStatus connect_command(const PipeOptions& options, tool::FoundCredentials found,
                                               tool::Console& console);
[[nodiscard]] tool::ExitStatus listen_command(const PipeOptions& options, tool::FoundCredentials found,
                                              tool::Console& console);
/// --plain: to and from any UDT4 program.
[[nodiscard]] tool::ExitStatus plain_command(const PipeOptions& options, tool::Console& console);

}  // namespace udtcat::pipe
