// SPDX-License-Identifier: Apache-2.0
/// The word that somebody meant who mistyped it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace udtcat::tool {

/// How many letters lie between the two: left out, added, changed, or two neighbours exchanged.
/// source: Damerau's distance, as optimal string alignment
[[nodiscard]] std::size_t distance(std::string_view one, std::string_view other);

/// "; did you mean WORD?" for the nearest of `words`, or one that begins so; empty where none is near.
[[nodiscard]] std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words);

}  // namespace udtcat::tool
