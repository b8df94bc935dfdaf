#include <udtcat/udtcat.hpp>

namespace udtcat {
const char* version() noexcept { return UDTCAT_VERSION; }
}  // namespace udtcat
