// SPDX-License-Identifier: Apache-2.0
/// The library's log; set_log_sink() of <udtcat/log.hpp> decides where it goes.
///
/// Secrets cannot be logged by accident: Key, SecretBytes and key material have no formatter.
#pragma once

#include <spdlog/spdlog.h>

namespace udtcat::core {

/// The library's logger. Levels: warn = an operator should know; info = one line per peer;
/// debug = one line per event; trace = one line per block.
/// Threads: internally synchronised.
[[nodiscard]] spdlog::logger& log();

}  // namespace udtcat::core
