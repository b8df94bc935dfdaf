// SPDX-License-Identifier: Apache-2.0
/// Asks a person for a secret, or tells it.
#pragma once

#include <string>

#include <udtcat/result.hpp>

#include "lib/core/secret_text.hpp"

namespace udtcat::tool {

/// Asks on the terminal that controls this process, whatever stdin is. A signal while it waits ends the process as if
/// nobody had asked, with the terminal as it was.
/// errors: Errc::bad_argument where there is no terminal, naming the three ways to give a key
[[nodiscard]] Result<core::SecretText> ask_on_terminal(const std::string& question);

/// Shows `secret` behind `caption` on the terminal that controls this process, wherever stdout and stderr go: a log
/// that they go to is no place for it.
/// errors: Errc::bad_argument where there is no terminal, saying how to make a key instead
[[nodiscard]] Status show_on_terminal(const std::string& caption, const core::SecretText& secret);

/// The same as the first, on an open terminal.  errors: Errc::bad_argument
[[nodiscard]] Result<core::SecretText> ask_without_echo(int terminal, const std::string& question);

}  // namespace udtcat::tool
