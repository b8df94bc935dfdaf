// SPDX-License-Identifier: Apache-2.0
// Any datagram as STUN: a message or none; what was decoded and understood comes back as it was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "lib/net/stun.hpp"

namespace fuzz_stun {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace udtcat::net;
  const auto datagram = std::as_bytes(std::span(data, size));
  auto message = decode_stun(datagram);
  if (!message) return 0;
  if (!is_stun(datagram)) std::abort();
  message->unknown.clear();
  if (decode_stun(encode(*message, size)) != message) std::abort();
  return 0;
}

}  // namespace fuzz_stun
