/// Sizes, rates and times as types, and their text forms on the command line.
///
/// Rates are bits per second (k, M, G are powers of 1000); sizes are bytes (KiB, MiB, GiB are powers
/// of 1024). Output always states the unit.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

namespace udtcat {

/// A data rate. Zero means "no limit" where a limit is expected.
class BitRate {
 public:
  constexpr BitRate() = default;
  [[nodiscard]] static constexpr BitRate from_bits_per_second(std::uint64_t bits) { return BitRate(bits); }
  /// Zero if `elapsed` is not positive.
  [[nodiscard]] static BitRate from_bytes_per(std::uint64_t bytes, std::chrono::nanoseconds elapsed);

  [[nodiscard]] constexpr std::uint64_t bits_per_second() const { return bits_per_second_; }
  [[nodiscard]] constexpr std::uint64_t bytes_per_second() const { return bits_per_second_ / 8; }
  [[nodiscard]] constexpr bool unlimited() const { return bits_per_second_ == 0; }
  friend constexpr auto operator<=>(BitRate, BitRate) = default;

 private:
  constexpr explicit BitRate(std::uint64_t bits) : bits_per_second_(bits) {}
  std::uint64_t bits_per_second_ = 0;
};

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr std::size_t kGiB = 1024 * kMiB;

/// "4096", "256KiB", "1MiB", "2GiB" → bytes. K, M and G alone are refused as ambiguous.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);
/// "400M", "10Gbit/s", "64k", "5000" → bits per second. Bytes are refused.
[[nodiscard]] Result<BitRate> parse_rate(std::string_view text);
/// "500ms", "10s", "2m", "10" (seconds) → duration, at least 1 ms.
[[nodiscard]] Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// "1.50 GiB", "312 B".
[[nodiscard]] std::string format_size(std::uint64_t bytes);
/// "2.31 Gbit/s".
[[nodiscard]] std::string format_rate(BitRate rate);

}  // namespace udtcat
