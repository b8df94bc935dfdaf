// SPDX-License-Identifier: Apache-2.0
/// Where the library's log goes. Without a sink the library is silent: it writes neither to stderr nor to a file; only
/// a program that breaks a rule of a call gets a last line there (result.hpp).
#pragma once

#include <functional>
#include <string_view>

namespace udtcat {

enum class LogLevel {
  trace,  ///< one line per block
  debug,  ///< one line per event
  info,   ///< one line per peer
  warn,   ///< an operator should know
  error,  ///< said by programs; the library itself returns its errors
};

/// Takes one line, without an end of line. Keys and payload are never in it; text of a peer is made printable.
/// Threads: called from every thread of the library, one call at a time. Must not log or throw.
using LogSink = std::function<void(LogLevel level, std::string_view text)>;

/// `sink` gets every line of `least` and above from now on; an empty sink makes the library silent again.
/// Threads: call while no other thread uses the library, e.g. first in main().
void set_log_sink(LogLevel least, LogSink sink);

}  // namespace udtcat
