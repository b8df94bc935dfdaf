// SPDX-License-Identifier: Apache-2.0
/// The exit of a program that failed, as the error of a read from it or a write to it.
#pragma once

#include <system_error>

namespace udtcat::core {

/// "ended with status 3", "was ended by signal 15"; no error for status 0.
/// signal   0: it ended by itself, with `status`
[[nodiscard]] std::error_code program_exit(int status, int signal);

/// Whether program_exit() made it: the program failed, and no read or write did.
[[nodiscard]] bool is_program_exit(std::error_code error);

}  // namespace udtcat::core
