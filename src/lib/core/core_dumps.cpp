// SPDX-License-Identifier: Apache-2.0
#include "lib/core/core_dumps.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <sys/prctl.h>
#include <sys/resource.h>

namespace udtcat::core {

std::uint64_t forbid_core_dumps(bool for_good) {
  rlimit core{};
  std::ignore = ::getrlimit(RLIMIT_CORE, &core);  // fails for no valid limit
  const std::uint64_t before = std::exchange(core.rlim_cur, 0);
  if (for_good) core.rlim_max = 0;
  std::ignore = ::setrlimit(RLIMIT_CORE, &core);  // lowering a limit is always allowed
  return before;
}

void allow_core_dumps(std::uint64_t limit_bytes) {
  rlimit core{};
  std::ignore = ::getrlimit(RLIMIT_CORE, &core);  // fails for no valid limit
  core.rlim_cur = std::min<rlim_t>(limit_bytes, core.rlim_max);
  std::ignore = ::setrlimit(RLIMIT_CORE, &core);  // up to the hard limit is always allowed
}

void forbid_tracing() {
  // LeakSanitizer stops the process by tracing it.
  if (!UDTCAT_SANITIZED) std::ignore = ::prctl(PR_SET_DUMPABLE, 0);  // fails for no valid value
}

}  // namespace udtcat::core
