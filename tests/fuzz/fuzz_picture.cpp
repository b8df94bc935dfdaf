// SPDX-License-Identifier: Apache-2.0
// Any bytes as the answer of a status socket: an error, or a picture that reads the same once more.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tool/status/picture.hpp"

namespace fuzz_picture {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using udtcat::tool::parse_picture;
  using udtcat::tool::to_json;
  // SAFETY: any byte is a char.
  const auto picture = parse_picture({reinterpret_cast<const char*>(data), size});
  if (!picture) return 0;
  const auto again = parse_picture(to_json(*picture));
  if (!again || udtcat::tool::to_text(*again) != udtcat::tool::to_text(*picture)) __builtin_trap();
  return 0;
}

}  // namespace fuzz_picture
