// SPDX-License-Identifier: Apache-2.0
// Any bytes as what the other end of a remote command says: messages or a violation, never more.
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "ssh/control_message.hpp"

namespace fuzz_control_message {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  udtcat::ssh::ControlReader reader;
  reader.push(std::as_bytes(std::span(data, size)));
  for (;;) {
    const auto message = reader.next();
    if (!message || !*message) return 0;
    std::ignore = udtcat::ssh::encode(**message);
  }
}

}  // namespace fuzz_control_message
