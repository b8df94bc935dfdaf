// SPDX-License-Identifier: Apache-2.0
/// Words that could stand next in a command line, for the shells' completions (wrappers/completion): `udtcat --complete
/// WORDS...`, the last of which is being written.
#pragma once

#include <string>

#include "tool/program/command.hpp"

namespace udtcat::tool {

inline constexpr const char* kCompletionWord = "--complete";

/// `words`   without the program; `udr` in the first place stands for the wrapper
/// returns   a line for each word that may stand there; of --NAME=VALUE, for each value. A line that begins with a
///           colon names others: ":file", ":directory", ":host", ":command", or ":inner N": the Nth word, from 0 on,
///           begins another program's command line
[[nodiscard]] std::string completion(const Commands& commands, Words words);

}  // namespace udtcat::tool
