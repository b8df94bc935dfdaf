// SPDX-License-Identifier: Apache-2.0
/// The processor time of this process.
#pragma once

#include <chrono>

namespace udtcat::tool {

/// So far, of all threads, user and system.
[[nodiscard]] std::chrono::microseconds process_cpu_time();

}  // namespace udtcat::tool
