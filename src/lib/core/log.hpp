/// Where the library says what it does. Silent unless the program gives it a sink: only cli writes to stderr.
///
/// Secrets cannot be logged by accident: Key, SecretBytes and key material have no formatter.
#pragma once

#include <memory>

#include <spdlog/spdlog.h>

namespace udtcat::core {

/// The library's logger. Never null. Levels: warn = an operator should know; info = one line per peer;
/// debug = one line per event; trace = one line per block.
/// Threads: internally synchronised.
[[nodiscard]] spdlog::logger& log();

/// Gives the library a sink. Call before any other thread uses the library.
void set_logger(std::shared_ptr<spdlog::logger> logger);

}  // namespace udtcat::core
