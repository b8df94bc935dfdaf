#include <tuple>

#include <sys/prctl.h>

#include "lib/core/dumps.hpp"

namespace udtcat::core {

void forbid_tracing() {
#ifndef UDTCAT_SANITIZED                      // LeakSanitizer stops the process by tracing it
  std::ignore = ::prctl(PR_SET_DUMPABLE, 0);  // fails for no valid value
#endif
}

}  // namespace udtcat::core
