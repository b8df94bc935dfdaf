// SPDX-License-Identifier: Apache-2.0
/// The command that ssh runs at the far side. Text: docs/spec/rsh.md §1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rsh/pushed_program.hpp"

namespace udtcat::rsh {

struct BootstrapRequest {
  std::string program = "udtcat";    ///< at the far side; a name or a path
  std::vector<std::string> options;  ///< of rsh-server
  std::optional<PushedProgram> push;
};

/// A command line that any login shell (sh, csh, fish) hands to sh unchanged. It runs the program, or one that was
/// pushed before, or says "UDTCAT MISSING <system>"; with `push` it then takes the program from its stdin, verifies and
/// runs it.
[[nodiscard]] std::string bootstrap_script(const BootstrapRequest& request);

}  // namespace udtcat::rsh
