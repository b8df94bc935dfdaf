// SPDX-License-Identifier: Apache-2.0
/// udtcat HOST PORT and udtcat -l [ADDR:]PORT with --from or --to: local clients and services as streams of sessions,
/// until stopped; or what another ForwardSessionFactory makes of them.
#pragma once

#include <functional>

#include <boost/asio/io_context.hpp>

#include "forward/forward.hpp"
#include "forward/forward_options.hpp"
#include "tool/cli/console.hpp"
#include "tool/cli/exit_status.hpp"
#include "tool/identity/credential_lookup.hpp"

namespace udtcat::forward {

/// Made once for all sessions of a forward, on its event loop.
using ForwardSessionFactoryBuilder = std::function<ForwardSessionFactory(boost::asio::io_context& io)>;

/// builder   none: local sockets and services
[[nodiscard]] tool::ExitStatus forward_command(const ForwardOptions& options, tool::FoundCredentials found,
                                               tool::Console& console,
                                               const ForwardSessionFactoryBuilder& builder = {});

}  // namespace udtcat::forward
