/// Unpredictable numbers.
#pragma once

#include <cstdint>

#include <udtcat/result.hpp>

namespace udtcat::crypto {

/// errors   Errc::cipher_failed
[[nodiscard]] Result<std::uint64_t> random_u64();

}  // namespace udtcat::crypto
