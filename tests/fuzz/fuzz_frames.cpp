// SPDX-License-Identifier: Apache-2.0
// Any bytes as the payload of a block: frames or a violation, never more.
#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/connection/frame.hpp"

namespace fuzz_frames {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  udtcat::connection::FrameReader reader(std::as_bytes(std::span(data, size)));
  for (;;) {
    const auto frame = reader.next();
    if (!frame || !*frame) return 0;
  }
}

}  // namespace fuzz_frames
