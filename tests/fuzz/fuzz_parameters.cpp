// SPDX-License-Identifier: Apache-2.0
// All decoders of parameter messages take any bytes; what they take, they give back as it was meant.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "lib/session/join.hpp"
#include "lib/session/parameters.hpp"

namespace fuzz_parameters {

using namespace udtcat::session;

namespace {
void require(bool condition) {
  if (!condition) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto in = std::as_bytes(std::span(data, size));
  const auto length = parameter_message_bytes(in.first(std::min(size, kParameterPrefixBytes)));
  require(!length || *length <= kMaxParameterMessageBytes);
  if (const auto offer = decode_offer(in)) {
    require(length && *length == size);
    require(decode_offer(encode(*offer)) == *offer);
    // Whatever is offered, the answer is one that the connector understands.
    udtcat::SessionOptions ours;
    ours.application = offer->application;
    const Answer answer = decide(*offer, ours, 1);
    require(decode_answer(encode(answer)) == answer);
    if (std::holds_alternative<Acceptance>(answer)) require(agree(*offer, answer).has_value());
  }
  if (const auto answer = decode_answer(in)) require(decode_answer(encode(*answer)) == *answer);
  if (const auto join = decode_join(in)) {
    require(length && *length == size);
    require(decode_join(encode(*join)) == *join);
    // A proof cannot be guessed.
    require(!JoinKey({}, join->session_id).check(*join) ||
            join->proof == JoinKey({}, join->session_id).join(join->name)->proof);
  }
  if (const auto joined = decode_joined(in)) require(decode_joined(encode(*joined)) == *joined);
  return 0;
}

}  // namespace fuzz_parameters
