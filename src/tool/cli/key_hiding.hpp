// SPDX-License-Identifier: Apache-2.0
/// Keys in command lines, which other users of a host can read.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace udtcat::tool {

/// `text` with dots in the place of each key's secret characters.
[[nodiscard]] std::string without_keys(std::string_view text);

/// Overwrites the secret characters of each key among the arguments of main(), which ps(1) shows.
/// Call it when they have been copied, before there are other threads.
void hide_keys(std::span<char* const> arguments);

}  // namespace udtcat::tool
