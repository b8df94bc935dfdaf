/// The program, but for main().
#pragma once

#include "tool/command.hpp"

namespace udtcat::tool {

/// commands   of which the one counts whose words, most of all, begin the command line
/// returns    the exit status; see exit_status.hpp
[[nodiscard]] int run(int argc, const char* const* argv, const Commands& commands);

}  // namespace udtcat::tool
