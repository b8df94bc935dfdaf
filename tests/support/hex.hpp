/// Bytes as tests write them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace udtcat::test {

using Bytes = std::vector<std::byte>;

/// "0a0b 0c" → bytes; white space is passed over.
inline Bytes from_hex(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != ' ' && c != '\n'; });
  if (digits.size() % 2 != 0) throw std::invalid_argument("odd number of hex digits");
  Bytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Exactly Size bytes, as an array that turns into a fixed span.
template <std::size_t Size>
std::array<std::byte, Size> array_of(std::span<const std::byte> bytes) {
  if (bytes.size() != Size) throw std::invalid_argument("wrong number of bytes");
  std::array<std::byte, Size> array;
  std::copy(bytes.begin(), bytes.end(), array.begin());
  return array;
}

}  // namespace udtcat::test
