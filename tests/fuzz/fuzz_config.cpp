// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of --config: an error, or words that udtcat reads or refuses.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "pipe/pipe_options.hpp"
#include "tool/cli/configuration.hpp"

namespace fuzz_config {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // SAFETY: any byte is a char.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto file = udtcat::tool::Configuration::parse(text, "f"))
    std::ignore = udtcat::pipe::parse_pipe_options(file->words());
  return 0;
}

}  // namespace fuzz_config
