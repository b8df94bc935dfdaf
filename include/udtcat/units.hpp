// SPDX-License-Identifier: Apache-2.0
/// Rates are in bits per second, a type of their own; sizes are in bytes; times are of std::chrono.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace udtcat {

/// A data rate. Zero is "no limit" where a limit is expected.
/// Threads: a value.
class BitRate {
 public:
  constexpr BitRate() = default;
  [[nodiscard]] static constexpr BitRate from_bits_per_second(std::uint64_t bits) { return BitRate(bits); }
  /// Zero if `elapsed` is not positive.
  [[nodiscard]] static constexpr BitRate from_bytes_per(std::uint64_t bytes, std::chrono::nanoseconds elapsed) {
    if (elapsed.count() <= 0) return {};
    const double rate = static_cast<double>(bytes) * 8e9 / static_cast<double>(elapsed.count());
    // 2^64 as a double: a rate that does not fit is the most there is.
    return BitRate(rate >= 18446744073709551616.0 ? std::numeric_limits<std::uint64_t>::max()
                                                  : static_cast<std::uint64_t>(rate));
  }

  [[nodiscard]] constexpr std::uint64_t bits_per_second() const { return bits_per_second_; }
  [[nodiscard]] constexpr std::uint64_t bytes_per_second() const { return bits_per_second_ / 8; }
  [[nodiscard]] constexpr bool unlimited() const { return bits_per_second_ == 0; }
  friend constexpr auto operator<=>(BitRate, BitRate) = default;
  /// The rate of two at the same time.
  friend constexpr BitRate operator+(BitRate one, BitRate other) {
    return BitRate(one.bits_per_second_ + other.bits_per_second_);
  }

 private:
  constexpr explicit BitRate(std::uint64_t bits) : bits_per_second_(bits) {}
  std::uint64_t bits_per_second_ = 0;
};

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr std::size_t kGiB = 1024 * kMiB;

}  // namespace udtcat
