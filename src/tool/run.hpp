/// The program, but for main().
#pragma once

namespace udtcat::tool {

/// returns  the exit status; see exit_status.hpp
[[nodiscard]] int run(int argc, const char* const* argv);

}  // namespace udtcat::tool
