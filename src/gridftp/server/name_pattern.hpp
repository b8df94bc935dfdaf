// SPDX-License-Identifier: Apache-2.0
/// Names as a shell's pattern: many clients ask for "NLST *.dat" where their user says so.
#pragma once

#include <string_view>

namespace udtcat::gridftp {

[[nodiscard]] bool is_pattern(std::string_view path);
/// '*' is any text, '?' any byte; a dot in front is matched by a dot only.  spec: POSIX, XCU 2.13, without brackets.
/// Bounded and total.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

}  // namespace udtcat::gridftp
