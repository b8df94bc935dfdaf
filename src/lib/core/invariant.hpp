// SPDX-License-Identifier: Apache-2.0
/// Our own bugs abort, in release too: a cipher pipeline that goes on after a broken invariant can repeat a nonce.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace udtcat::core {
/// As assert() does, past any logger: a program whose invariants are broken may hold the logger's lock.
[[noreturn, gnu::cold, gnu::noinline]] inline void invariant_failed(const char* condition, const char* why,
                                                                    const char* file, int line) noexcept {
  std::fprintf(stderr, "udtcat: bug: %s:%d: not true: %s (%s)\n", file, line, condition, why);
  std::abort();
}
}  // namespace udtcat::core

/// `why` says why the condition holds, not what it is.
#define UDTCAT_INVARIANT(condition, why)               \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::udtcat::core::invariant_failed(#condition, why, __FILE__, __LINE__))
