// SPDX-License-Identifier: Apache-2.0
#include "lib/core/printable.hpp"

#include <algorithm>
#include <cstdint>

namespace udtcat::core {

namespace {

struct LeadByte {
  std::size_t length;     // of the whole character; 0: no character begins so
  std::uint32_t bits;     // the lead byte's share of the code point
  std::uint32_t minimum;  // below it the form is overlong
};

LeadByte lead_byte(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xc2 && byte <= 0xdf) return {2, byte & 0x1fU, 0x80};
  if (byte >= 0xe0 && byte <= 0xef) return {3, byte & 0x0fU, 0x800};
  if (byte >= 0xf0 && byte <= 0xf4) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

bool is_control(std::uint32_t point) { return point < 0x20 || (point >= 0x7f && point < 0xa0); }
bool is_surrogate(std::uint32_t point) { return point >= 0xd800 && point <= 0xdfff; }

// The length of the character at the front, 0 where there is none fit to show.
std::size_t character_bytes(std::string_view text) {
  const LeadByte lead = lead_byte(static_cast<unsigned char>(text.front()));
  if (lead.length == 0 || lead.length > text.size()) return 0;
  std::uint32_t point = lead.bits;
  for (const char c : text.substr(1, lead.length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) != 0x80) return 0;
    point = (point << 6) | (byte & 0x3fU);
  }
  const bool fit = point >= lead.minimum && point <= 0x10ffff && !is_surrogate(point) && !is_control(point);
  return fit ? lead.length : 0;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  out.reserve(std::min(text.size(), max_bytes));
  while (!text.empty()) {
    const std::size_t length = character_bytes(text);
    const std::size_t taken = std::max<std::size_t>(length, 1);
    if (out.size() + taken > max_bytes) break;
    out += length == 0 ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace udtcat::core
