#include "lib/core/dumps.hpp"

namespace udtcat::core {

void forbid_tracing() {}  // no portable way; RLIMIT_CORE is set in any case

}  // namespace udtcat::core
