// SPDX-License-Identifier: Apache-2.0
/// Bytes seen as text, numbers read from text, and text without the blanks around it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace udtcat::core {

[[nodiscard]] inline std::string_view as_text(std::span<const std::byte> bytes) {
  // SAFETY: char may alias anything, std::byte included.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The number that `text` is as a whole: digits without blanks or a plus sign, a minus sign for signed types only.
/// None where it is anything else, or does not fit the type.
template <typename Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

/// Two ports in order, with one of `separators` between, as in "9000-9100"; none: anything else.
[[nodiscard]] inline std::optional<std::pair<std::uint16_t, std::uint16_t>> parse_port_range(
    std::string_view text, std::string_view separators) {
  const auto between = std::min(text.find_first_of(separators), text.size());
  const auto first = parse_number<std::uint16_t>(text.substr(0, between));
  const auto last = parse_number<std::uint16_t>(text.substr(std::min(between + 1, text.size())));
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

/// Borrows of `text` what lies between the first and the last character that is none of `blanks`.
[[nodiscard]] inline std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace udtcat::core
