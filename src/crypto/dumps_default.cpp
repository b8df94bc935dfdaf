#include "crypto/dumps.hpp"

namespace udtcat::crypto {

void forbid_tracing() {}  // no portable way; RLIMIT_CORE is set in any case

}  // namespace udtcat::crypto
