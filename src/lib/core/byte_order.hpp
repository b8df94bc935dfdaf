// SPDX-License-Identifier: Apache-2.0
/// Network byte order, the only one on our wire.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

namespace udtcat::core {

/// Writes `value` big-endian into the first sizeof(T) bytes of `out`, which must be there.
template <std::unsigned_integral T>
constexpr void store_be(std::span<std::byte> out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out[i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)));
}

/// Reads a big-endian T from the first sizeof(T) bytes of `in`, which must be there.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T load_be(std::span<const std::byte> in) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(static_cast<T>(value << (8 * (sizeof(T) > 1))) | std::to_integer<T>(in[i]));
  return value;
}

}  // namespace udtcat::core
