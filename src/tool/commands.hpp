// SPDX-License-Identifier: Apache-2.0
/// The commands of this wing, and those of their parts that other wings use.
#pragma once

#include <functional>
#include <string>

#include <udtcat/peering.hpp>

#include "tool/command.hpp"
#include "tool/forward.hpp"
#include "tool/pipe_options.hpp"

namespace udtcat::tool {

/// The forms of udtcat without a command's word.
[[nodiscard]] Commands commands();

[[nodiscard]] ExitStatus connect_command(const PipeOptions& options, FoundCredentials found, Console& console);
[[nodiscard]] ExitStatus listen_command(const PipeOptions& options, FoundCredentials found, Console& console);

/// Made once for all sessions of a forward, on its event loop.
using ForwardSessionMakerOn = std::function<ForwardSessionMaker(boost::asio::io_context& io)>;
/// maker_on   none: local sockets and services
[[nodiscard]] ExitStatus forward_command(const PipeOptions& options, FoundCredentials found, Console& console,
                                         const ForwardSessionMakerOn& maker_on = {});

[[nodiscard]] ExitStatus plain_command(const PipeOptions& options, Console& console);

/// Warns of a protection level that leaves something open.
void warn_of_protection(const Options& options, Console& console);

}  // namespace udtcat::tool
