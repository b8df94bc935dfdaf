// SPDX-License-Identifier: Apache-2.0
// Any bytes as the answer of a status socket: an error, or a snapshot that reads the same once more.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tool/status/snapshot.hpp"

namespace fuzz_snapshot {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using udtcat::tool::parse_snapshot;
  using udtcat::tool::to_json;
  // SAFETY: any byte is a char.
  const auto snapshot = parse_snapshot({reinterpret_cast<const char*>(data), size});
  if (!snapshot) return 0;
  const auto again = parse_snapshot(to_json(*snapshot));
  if (!again || udtcat::tool::to_text(*again) != udtcat::tool::to_text(*snapshot)) __builtin_trap();
  return 0;
}

}  // namespace fuzz_snapshot
