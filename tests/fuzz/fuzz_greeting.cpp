// SPDX-License-Identifier: Apache-2.0
// Any bytes as what ssh prints before the far end speaks: noise and at last a greeting, nothing lost in between. Texts
// of even length come while a program of a megabyte is being pushed.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "ssh/greeting.hpp"

namespace fuzz_greeting {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  udtcat::ssh::GreetingReader reader;
  constexpr std::uint64_t kProgramBytes = 1'000'000;
  if (size % 2 == 0) reader.expect_program(kProgramBytes);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t seen = 0;
  for (std::size_t at = 0; at < size; at += 7) {
    reader.push(text.substr(at, 7));
    const auto words = reader.next();
    seen += reader.take_noise().size();
    if (!words) continue;
    const auto* have = std::get_if<udtcat::ssh::HaveLine>(&*words);
    if (have != nullptr && (size % 2 != 0 || have->bytes > kProgramBytes)) __builtin_trap();
    return 0;
  }
  seen += reader.take_noise(true).size();
  if (seen != size) __builtin_trap();
  return 0;
}

}  // namespace fuzz_greeting
