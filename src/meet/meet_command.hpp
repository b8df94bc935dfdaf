// SPDX-License-Identifier: Apache-2.0
/// udtcat meet: a meeting place, until stopped.
#pragma once

#include "meet/meet_options.hpp"
#include "tool/cli/console.hpp"
#include "tool/cli/exit_status.hpp"
#include "tool/identity/credential_lookup.hpp"

namespace udtcat::meet {

/// found   nothing where it serves everybody
[[nodiscard]] tool::ExitStatus meet_command(const MeetOptions& options, tool::FoundCredentials found,
                                            tool::Console& console);

}  // namespace udtcat::meet
