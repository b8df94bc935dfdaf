/// What the chosen level of protection leaves open, in words.
#pragma once

#include <optional>
#include <string>

#include <udtcat/options.hpp>

namespace udtcat::tool {

/// None at `private`, which leaves nothing open that the others close.
[[nodiscard]] std::optional<std::string> protection_notice(Protection protection);
/// Of --plain, which leaves everything open.
[[nodiscard]] std::string plain_notice();

}  // namespace udtcat::tool
