// SPDX-License-Identifier: Apache-2.0
// Any bytes as what the other end of a transfer of trees says: a violation, or a message that reads the same once more.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trees/message.hpp"

namespace fuzz_trees_message {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace udtcat::trees;
  auto rest = std::as_bytes(std::span(data, size));
  while (rest.size() >= kHeaderBytes) {
    const auto length = body_bytes(rest.first<kHeaderBytes>());
    if (!length || *length > rest.size() - kHeaderBytes) return 0;
    const auto message = decode(std::to_integer<std::uint8_t>(rest[0]), rest.subspan(kHeaderBytes, *length));
    if (!message) return 0;
    std::vector<std::byte> bytes;
    encode(*message, bytes);
    const auto again = decode(std::to_integer<std::uint8_t>(bytes[0]), std::span(bytes).subspan(kHeaderBytes));
    if (!again) __builtin_trap();
    std::vector<std::byte> once_more;
    encode(*again, once_more);
    if (bytes != once_more) __builtin_trap();
    rest = rest.subspan(kHeaderBytes + *length);
  }
  return 0;
}

}  // namespace fuzz_trees_message
