// SPDX-License-Identifier: Apache-2.0
/// The texts of `udtcat` alone, and of `udtcat help TOPIC` for topics that are no commands.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace udtcat::tool {

/// The five things that one does, a line to copy each.
[[nodiscard]] std::string first_steps_text();

/// One screen; none where there is no such topic.
[[nodiscard]] std::optional<std::string> topic_text(const std::string& name);
[[nodiscard]] std::vector<std::string> topic_names();

}  // namespace udtcat::tool
