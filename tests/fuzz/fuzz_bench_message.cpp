// SPDX-License-Identifier: Apache-2.0
// Any line as a question and as an answer of a bench: an error, or a message that reads the same once more.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bench/bench_message.hpp"

namespace fuzz_bench_message {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace udtcat::bench;
  // SAFETY: any byte is a char.
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (const auto question = parse_bench_request(line)) {
    const auto again = parse_bench_request(to_json(*question));
    if (!again || *again != *question) __builtin_trap();
  }
  if (const auto answer = parse_bench_response(line)) {
    const auto again = parse_bench_response(to_json(*answer));
    if (!again || to_json(*again) != to_json(*answer)) __builtin_trap();
  }
  return 0;
}

}  // namespace fuzz_bench_message
