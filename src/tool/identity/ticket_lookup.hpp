// SPDX-License-Identifier: Apache-2.0
/// Whether there is a ticket, or is to be one.
#pragma once

#include <udtcat/result.hpp>

#include "tool/cli/options.hpp"

namespace udtcat::tool {

/// Reads the ticket of --ticket, where it is written, or asks a person for it. Blocks.
/// errors: Errc::bad_argument; those of Ticket::from_file()
[[nodiscard]] Status read_ticket(Options& options);

/// Whether the command makes a ticket, as it may, and the user has no key, or wants one.
/// has_key_candidate   the process was given a key
/// errors: those of asks_for_pair()
[[nodiscard]] Result<bool> makes_ticket(const Options& options, bool has_key_candidate);

}  // namespace udtcat::tool
