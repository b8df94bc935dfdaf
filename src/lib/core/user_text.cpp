// SPDX-License-Identifier: Apache-2.0
#include "lib/core/user_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "lib/core/text.hpp"

namespace udtcat::core {

namespace {

constexpr const char* kSizeForms = "allowed: bytes, or a number with kB, MB, GB, KiB, MiB or GiB, as in 1.5GB";
constexpr const char* kRateForms = "allowed: bits per second, or a number with k, M or G, as in 400M or 2.5Gbit/s";
constexpr const char* kDurationForms = "allowed: seconds, or a number with ms, s or m, from 1ms to 365 days";

// spec: longer than any wait, and far below what a steady clock in nanoseconds can add to now.
constexpr std::uint64_t kMaxDurationMilliseconds = 365ULL * 24 * 3600 * 1000;

constexpr std::size_t kMaxDecimals = 9;  // guess: a nanosecond, a bit of a gigabit

/// A number as it is written, in units of 10^-kMaxDecimals.
struct Quantity {
  std::uint64_t whole;
  std::uint64_t billionths;
  std::string_view unit;  // part of the text that was given
};

std::optional<Quantity> split(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto whole = core::parse_number<std::uint64_t>(text.substr(0, digits));
  if (!whole) return std::nullopt;
  text.remove_prefix(digits);
  if (!text.starts_with('.')) return Quantity{*whole, 0, text};
  text.remove_prefix(1);
  const std::size_t decimals = std::min(text.find_first_not_of("0123456789"), text.size());
  if (decimals == 0 || decimals > kMaxDecimals) return std::nullopt;
  std::string padded(text.substr(0, decimals));
  padded.resize(kMaxDecimals, '0');
  return Quantity{*whole, core::parse_number<std::uint64_t>(padded).value_or(0), text.substr(decimals)};
}

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

/// The quantity in the smallest unit, rounded down; none for an unknown unit, a number beyond `limit`, or a fraction of
/// the smallest unit.
template <std::size_t Count>
std::optional<std::uint64_t> scale(std::string_view text, const std::array<Unit, Count>& units, std::uint64_t limit) {
  const auto quantity = split(text);
  if (!quantity) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name != quantity->unit || quantity->whole > limit / unit.factor) continue;
    if (unit.factor == 1 && quantity->billionths != 0) continue;
    const std::uint64_t amount = quantity->whole * unit.factor;
    // In two steps, neither of which overflows with a factor below 2^64 / 10^9.
    constexpr std::uint64_t kBillion = 1'000'000'000;
    const std::uint64_t fraction =
        quantity->billionths * (unit.factor / kBillion) + quantity->billionths * (unit.factor % kBillion) / kBillion;
    if (fraction <= limit - amount) return amount + fraction;
  }
  return std::nullopt;
}

std::string quoted(std::string_view kind, std::string_view text) { return fmt::format("{} \"{}\"", kind, text); }

// Three digits of the largest unit that leaves at least 1; all of the smallest.
template <std::size_t Count>
std::string in_largest_unit(std::uint64_t amount, const std::array<std::string_view, Count>& units) {
  double value = static_cast<double>(amount);
  std::size_t unit = 0;
  // A value that would round up to a full step is written in the next unit: never "1000 kB".
  while (unit + 1 < Count && value >= (unit == 0 ? 1000 : 999.5)) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} {}", amount, units[0]);
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

// strerror_r comes in two shapes, XSI's and GNU's; overloading takes whichever the C library has.
[[maybe_unused]] const char* text_from(int status, const char* buffer) {
  return status == 0 ? buffer : "unknown error";
}
[[maybe_unused]] const char* text_from(const char* text, const char*) { return text; }

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  static constexpr std::array<Unit, 9> kUnits{{{"", 1},
                                               {"KiB", kKiB},
                                               {"MiB", kMiB},
                                               {"GiB", kGiB},
                                               {"TiB", 1024 * kGiB},
                                               {"kB", 1'000},
                                               {"MB", 1'000'000},
                                               {"GB", 1'000'000'000},
                                               {"TB", 1'000'000'000'000}}};
  if (const auto bytes = scale(text, kUnits, std::numeric_limits<std::uint64_t>::max())) return *bytes;
  return fail(Errc::bad_argument, quoted("size", text), kSizeForms);
}

Result<BitRate> parse_rate(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits{{{"", 1}, {"k", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}}};
  constexpr std::string_view kSuffix = "bit/s";
  const std::string_view number = text.ends_with(kSuffix) ? text.substr(0, text.size() - kSuffix.size()) : text;
  if (const auto bits = scale(number, kUnits, std::numeric_limits<std::uint64_t>::max()))
    return BitRate::from_bits_per_second(*bits);
  return fail(Errc::bad_argument, quoted("rate", text), kRateForms);
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits{{{"", 1'000}, {"ms", 1}, {"s", 1'000}, {"m", 60'000}}};
  const auto milliseconds = scale(text, kUnits, kMaxDurationMilliseconds);
  if (milliseconds && *milliseconds > 0) return std::chrono::milliseconds(static_cast<std::int64_t>(*milliseconds));
  return fail(Errc::bad_argument, quoted("time", text), kDurationForms);
}

std::string format_size(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 7> kUnits{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  return in_largest_unit(bytes, kUnits);
}

std::string format_rate(BitRate rate) { return format_size(rate.bits_per_second() / 8) + "/s"; }

std::string format_bit_rate(BitRate rate) {
  static constexpr std::array<std::string_view, 5> kUnits{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  return in_largest_unit(rate.bits_per_second(), kUnits);
}

std::string format_count(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string format_duration(std::chrono::duration<double> time) { return fmt::format("{:g} s", time.count()); }

std::string errno_text(int errno_value) {
  char buffer[128] = {};
  std::string text = text_from(::strerror_r(errno_value, buffer, sizeof buffer), buffer);
  // Our messages have it after a colon, so it begins in lower case; "RFS specific error" stays.
  const auto upper = [&](std::size_t i) {
    return i < text.size() && std::isupper(static_cast<unsigned char>(text[i])) != 0;
  };
  if (upper(0) && !upper(1)) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

tl::unexpected<Error> fail_by_errno(Errc code, std::string what, int errno_value) {
  return tl::unexpected(Error{code, std::move(what), errno_text(errno_value), errno_value});
}

}  // namespace udtcat::core
