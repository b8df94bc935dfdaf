// SPDX-License-Identifier: Apache-2.0
/// The command that ssh runs at the far side, and the answers to what it says. Text: docs/spec/rsh.md §1.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace udtcat::ssh {

struct ProgramDigest {
  std::string system{};  ///< on which it runs, as `uname -sm` prints it: "Linux x86_64"
  std::string sha256_hex{};
};

struct BootstrapRequest {
  std::string program = "udtcat";       ///< at the far side; a name or a path
  std::string command = "rsh-server";   ///< of that program: the far end
  std::vector<std::string> options{};   ///< of that command
  std::string near_end{};               ///< to_text(NearEnd)
  std::vector<ProgramDigest> pushed{};  ///< one for each system: a push may have left it there
  bool push = false;                    ///< that program can be sent where it is not; wants `pushed`
};

/// A command line that any login shell (sh, csh, fish) hands to sh unchanged. It runs the program, or one that was
/// pushed before, or says what is missing and does what it is answered.
[[nodiscard]] std::string bootstrap_script(const BootstrapRequest& request);

/// The answer by which the command runs over ssh itself.
[[nodiscard]] std::string run_answer(std::string_view command);
/// The answer that the program follows, packed by gzip.
[[nodiscard]] std::string push_answer(std::size_t packed_bytes);

}  // namespace udtcat::ssh
