// SPDX-License-Identifier: Apache-2.0
/// The texts of `udtcat` alone, and of `udtcat help TOPIC` for topics that are no commands.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace udtcat::tool {

/// A line to copy for each of the six main uses.
[[nodiscard]] std::string first_steps_text();

inline constexpr const char* kHelpWord = "help";
/// The command that has no word, as a topic.
inline constexpr const char* kPipeWord = "pipe";

/// Whether a command line is `udtcat help [TOPIC]`. A host may be called help, too: udtcat help 9000.
[[nodiscard]] bool asks_for_help(const std::vector<std::string>& arguments);

/// One screen; none where there is no such topic.
[[nodiscard]] std::optional<std::string> help_page(const std::string& name);
[[nodiscard]] std::vector<std::string> help_page_names();

}  // namespace udtcat::tool
