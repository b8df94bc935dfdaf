/// Text on stdout: help, version, a new key.
#pragma once

#include <string_view>

#include <udtcat/result.hpp>

namespace udtcat::tool {

/// errors: Errc::local_write_failed
[[nodiscard]] Status print(std::string_view text);

}  // namespace udtcat::tool
