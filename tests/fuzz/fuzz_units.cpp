// SPDX-License-Identifier: Apache-2.0
// Any text gives a value within its limits, or an error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <udtcat/units.hpp>

#include "lib/core/user_text.hpp"

namespace fuzz_units {

using namespace udtcat;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // SAFETY: char may alias anything.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = core::parse_size(text)) {
    if (core::format_size(*bytes).empty()) std::abort();
  }
  if (const auto rate = core::parse_rate(text)) {
    if (core::format_rate(*rate).empty()) std::abort();
  }
  if (const auto duration = core::parse_duration(text)) {
    if (duration->count() < 1 || *duration > std::chrono::hours(24 * 365)) std::abort();
  }
  return 0;
}

}  // namespace fuzz_units
