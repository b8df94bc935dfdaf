// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <tuple>

#include "rsh/command/commands.hpp"
#include "tool/cli/process_setup.hpp"
#include "tool/cli/shell_words.hpp"

namespace udtcat::rsh {

std::optional<tool::Words> words_as_ssh(const tool::Words& argv) {
  constexpr const char* kVariable = "UDTCAT_AS_SSH";  // spec: docs/man/udr.1, ENVIRONMENT
  const auto text = tool::environment(kVariable);
  // scp and sftp begin with these options, with which no command line of ours begins: others are a user's.
  const bool is_call = argv.size() > 1 && (argv[1].starts_with("-o") || argv[1] == "-x");
  if (!text || !is_call) return std::nullopt;
  std::ignore = ::unsetenv(kVariable);  // fails for no valid name
  auto words = tool::split_words(*text);
  if (!words) return std::nullopt;
  words->insert(words->begin(), argv.front());
  words->insert(words->end(), argv.begin() + 1, argv.end());
  return words;
}

}  // namespace udtcat::rsh
