// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/base64url.hpp"

#include <cstdint>

namespace udtcat::test::e2e {

std::string decode_base64url(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";  // spec: RFC 4648 §5
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned int held = 0;
  for (const char character : text) {
    const auto value = kAlphabet.find(character);
    if (value == std::string_view::npos) continue;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>((bits >> held) & 0xFF));
  }
  return bytes;
}

std::string to_hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 0xF];
  }
  return text;
}

}  // namespace udtcat::test::e2e
