// SPDX-License-Identifier: Apache-2.0
/// The lab's clock: a parameter of all that has no I/O.
#pragma once

#include <chrono>

namespace udtcat::wan {

using TimePoint = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

}  // namespace udtcat::wan
