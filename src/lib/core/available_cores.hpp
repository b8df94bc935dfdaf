/// How many processors this process may use.
#pragma once

#include <cstddef>

namespace udtcat::core {
/// At least 1. Respects the affinity mask where the system has one.
[[nodiscard]] std::size_t available_cores() noexcept;
}  // namespace udtcat::core
