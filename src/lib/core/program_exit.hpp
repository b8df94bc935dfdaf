// SPDX-License-Identifier: Apache-2.0
/// The end of a program that failed, as an error of what was read from it or written to it.
#pragma once

#include <system_error>

namespace udtcat::core {

/// "ended with status 3", "was ended by signal 15"; none of a program that went well.
/// signal   0: it ended by itself, with `status`
[[nodiscard]] std::error_code program_exit(int status, int signal);

/// Whether program_exit() gave it: the program failed, and no read or write did.
[[nodiscard]] bool is_program_exit(std::error_code error);

}  // namespace udtcat::core
