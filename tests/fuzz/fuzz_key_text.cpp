// SPDX-License-Identifier: Apache-2.0
// Any text gives a key or an error that does not quote it; a key's text is the one it was read from.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <udtcat/key.hpp>

namespace fuzz_key_text {

using namespace udtcat;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // SAFETY: char may alias anything.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto key = Key::parse(text);
  if (key) {
    if (text.find(key->reveal_text()) == std::string_view::npos) std::abort();
  } else if (key.error().code != Errc::bad_argument) {
    std::abort();
  }
  return 0;
}

}  // namespace fuzz_key_text
