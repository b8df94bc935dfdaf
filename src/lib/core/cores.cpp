// SPDX-License-Identifier: Apache-2.0
#include "lib/core/cores.hpp"

#include <algorithm>
#include <thread>

#include <sched.h>

namespace udtcat::core {

std::size_t available_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0) return static_cast<std::size_t>(std::max(1, CPU_COUNT(&mask)));
  return std::max(1U, std::thread::hardware_concurrency());  // more cores than the set has bits for
}

}  // namespace udtcat::core
