// SPDX-License-Identifier: Apache-2.0
/// How many cores there are to run on.
#pragma once

#include <cstddef>

namespace udtcat::core {

/// The cores that the affinity mask leaves to this thread, at least one.
/// Threads: any.
[[nodiscard]] std::size_t available_cores();

}  // namespace udtcat::core
