/// Arithmetic of rates, times and bytes that the answers share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <udtcat/units.hpp>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

inline constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

// guess: three times RFC 6928's ten. Paths here are long and fat, and the start is paced as soon as a round trip is known.
inline constexpr std::size_t kInitialWindowPackets = 32;

[[nodiscard]] constexpr double seconds_of(Duration time) { return std::chrono::duration<double>(time).count(); }

[[nodiscard]] constexpr Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// factor   times a bound that may be kUnbounded, which it then stays
[[nodiscard]] constexpr std::uint64_t scaled(std::uint64_t bytes, double factor) {
  const double product = static_cast<double>(bytes) * factor;
  return product >= static_cast<double>(kUnbounded) ? kUnbounded : static_cast<std::uint64_t>(product);
}

[[nodiscard]] constexpr BitRate scaled(BitRate rate, double factor) {
  return BitRate::from_bits_per_second(scaled(rate.bits_per_second(), factor));
}

[[nodiscard]] constexpr std::uint64_t bytes_during(BitRate rate, Duration time) {
  return scaled(rate.bytes_per_second(), seconds_of(time));
}

}  // namespace udtcat::transport::native
