// SPDX-License-Identifier: Apache-2.0
// Any bytes as the stream of a meeting place, and as a signed message: messages or a violation, never more.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "lib/meeting/message.hpp"
#include "lib/meeting/signed_messages.hpp"

namespace fuzz_meeting_message {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace udtcat::meeting;
  const auto bytes = std::as_bytes(std::span(data, size));
  const udtcat::PublicKey recipient(std::array<std::byte, udtcat::PublicKey::kBytes>{});
  if (open_offer(bytes, recipient) && open_answer(bytes, recipient)) std::abort();
  udtcat::core::ByteReader candidates(bytes);
  std::ignore = decode_candidates(candidates);
  MessageReader reader;
  reader.append(bytes);
  for (;;) {
    const auto message = reader.next();
    if (!message || !*message) return 0;
    MessageReader again;
    again.append(encode(**message));
    if (const auto same = again.next(); !same || *same != *message) std::abort();
  }
}

}  // namespace fuzz_meeting_message
