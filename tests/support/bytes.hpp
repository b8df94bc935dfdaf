// SPDX-License-Identifier: Apache-2.0
/// Bytes as tests write them, and data that no compression, padding or repetition could stand in for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
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

inline std::string text_of(std::span<const std::byte> bytes) {
  // SAFETY: any byte is a char.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Exactly Size bytes, as an array that turns into a fixed span.
template <std::size_t Size>
std::array<std::byte, Size> array_of(std::span<const std::byte> bytes) {
  if (bytes.size() != Size) throw std::invalid_argument("wrong number of bytes");
  std::array<std::byte, Size> array;
  std::copy(bytes.begin(), bytes.end(), array.begin());
  return array;
}

/// An endless sequence that depends on its seed only (SplitMix64: quick, and not meant to be secret).
class RandomSequence {
 public:
  explicit RandomSequence(std::uint64_t seed) : state_(seed) {}

  void fill(std::span<std::byte> out) {
    while (!out.empty()) {
      // spec: SplitMix64 (Steele, Lea, Flood 2014), this constant and the next two
      std::uint64_t value = state_ += 0x9E3779B97F4A7C15ULL;
      value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
      value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
      value ^= value >> 31;
      const std::size_t taken = std::min(out.size(), sizeof value);
      std::memcpy(out.data(), &value, taken);
      out = out.subspan(taken);
    }
  }

 private:
  std::uint64_t state_;
};

/// The same at every run.
inline Bytes random_bytes(std::size_t size, std::uint64_t seed = 1) {
  Bytes bytes(size);
  RandomSequence(seed).fill(bytes);
  return bytes;
}

/// Each byte tells its position in a stream: a piece at `offset` has the same bytes, whoever makes it.
inline Bytes numbered_bytes(std::size_t size, std::uint64_t offset = 0) {
  constexpr std::uint64_t kStep =
      0x9E3779B97F4A7C15ULL;  // 2^64 by the golden ratio: neighbours differ, nothing repeats
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(((offset + i) * kStep) >> 56);
  return bytes;
}

}  // namespace udtcat::test
