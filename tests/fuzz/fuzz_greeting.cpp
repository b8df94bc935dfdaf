// SPDX-License-Identifier: Apache-2.0
// Any bytes as what ssh prints before the far end speaks: noise and at last a greeting, nothing lost in between.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rsh/greeting.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  udtcat::rsh::GreetingReader reader;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t seen = 0;
  for (std::size_t at = 0; at < size; at += 7) {
    reader.push(text.substr(at, 7));
    const auto words = reader.next();
    seen += reader.take_noise().size();
    if (words) return 0;
  }
  seen += reader.take_noise(true).size();
  if (seen != size) __builtin_trap();
  return 0;
}
