// SPDX-License-Identifier: Apache-2.0
/// udtcat --plain: bare bytes to and from any UDT4 program.
#pragma once

#include "pipe/pipe_options.hpp"
#include "tool/cli/console.hpp"
#include "tool/cli/exit_status.hpp"

namespace udtcat::pipe {

[[nodiscard]] tool::ExitStatus plain_command(const PipeOptions& options, tool::Console& console);

}  // namespace udtcat::pipe
