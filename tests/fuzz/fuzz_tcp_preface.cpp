// SPDX-License-Identifier: Apache-2.0
// Any bytes as the first of a TCP connection: a preface, the beginning of one, or none.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "lib/transport/tcp/preface.hpp"

namespace fuzz_tcp_preface {

using udtcat::transport::tcp::decode_preface;
using State = udtcat::transport::tcp::DecodedPreface::State;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto decoded = decode_preface(bytes);
  if (decoded.state == State::complete) {
    const auto again = encode(decoded.preface);
    if (!std::equal(again.begin(), again.end(), bytes.begin())) std::abort();
  }
  // The fewer are there, the less is known: never the opposite.
  for (std::size_t length = 0; length < std::min<std::size_t>(size, 28); ++length)
    if (decode_preface(bytes.first(length)).state == State::malformed && decoded.state != State::malformed)
      std::abort();
  return 0;
}

}  // namespace fuzz_tcp_preface
