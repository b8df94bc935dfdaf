#include "cli/process_hardening.hpp"

namespace udtcat::cli {

void forbid_tracing() {}  // no portable way; RLIMIT_CORE is set in any case

}  // namespace udtcat::cli
