// SPDX-License-Identifier: Apache-2.0
/// The USERNAME by which an end binds at a relay: docs/spec/meet.md §5.
#pragma once

#include <cstddef>
#include <string>

#include "lib/meeting/message.hpp"

namespace udtcat::meeting {

/// The token in hexadecimal.
[[nodiscard]] inline std::string username_of(const Relay::Token& token) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte each : token) {
    text += kDigits[std::to_integer<std::size_t>(each >> 4)];
    text += kDigits[std::to_integer<std::size_t>(each & std::byte{15})];
  }
  return text;
}

}  // namespace udtcat::meeting
