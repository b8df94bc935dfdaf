#include "lib/core/available_cores.hpp"

#include <algorithm>
#include <thread>

namespace udtcat::core {

std::size_t available_cores() noexcept { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace udtcat::core
