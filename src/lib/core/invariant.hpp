/// Our own bugs abort, in release too: a cipher pipeline that goes on after a broken invariant can repeat a nonce.
#pragma once

namespace udtcat::core {
[[noreturn]] void invariant_failed(const char* condition, const char* why, const char* file, int line) noexcept;
}

/// `why` says why the condition holds, not what it is.
#define UDTCAT_INVARIANT(condition, why)               \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::udtcat::core::invariant_failed(#condition, why, __FILE__, __LINE__))
