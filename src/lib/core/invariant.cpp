#include "lib/core/invariant.hpp"

#include <cstdio>
#include <cstdlib>

namespace udtcat::core {

// As assert() does, past any logger: a program whose invariants are broken may hold the logger's lock.
void invariant_failed(const char* condition, const char* why, const char* file, int line) noexcept {
  std::fprintf(stderr, "udtcat: bug: %s:%d: not true: %s (%s)\n", file, line, condition, why);
  std::abort();
}

}  // namespace udtcat::core
