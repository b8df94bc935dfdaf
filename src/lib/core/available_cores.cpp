#include "lib/core/available_cores.hpp"

#include <sched.h>

#include <algorithm>

namespace udtcat::core {

std::size_t available_cores() noexcept {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&mask)));
}

}  // namespace udtcat::core
