// SPDX-License-Identifier: Apache-2.0
/// udtcat --help.
#pragma once

#include <string>

namespace udtcat::pipe {

[[nodiscard]] std::string help_text();

}  // namespace udtcat::pipe
