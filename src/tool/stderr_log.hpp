/// Gives the library's log a place on stderr.
#pragma once

#include "tool/console.hpp"

namespace udtcat::tool {

/// verbosity  -1: errors; 0: warnings; 1: info; 2: debug; 3 and more: trace
/// `console` must outlive every use of the log.
void install_stderr_log(Console& console, int verbosity);

}  // namespace udtcat::tool
