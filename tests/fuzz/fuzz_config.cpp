// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of --config: an error, or words that udtcat reads or refuses.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pipe/pipe_options.hpp"
#include "tool/cli/configuration.hpp"

namespace fuzz_config {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using udtcat::tool::Words;
  // SAFETY: any byte is a char.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = udtcat::tool::Configuration::parse(text, "f");
  if (!file) return 0;
  const auto read = [](const Words& words) -> udtcat::Status {
    const auto options = udtcat::pipe::parse_pipe_options(words);
    return options ? udtcat::Status{} : tl::unexpected(options.error());
  };
  const udtcat::Status status = read(file->words());
  if (status || size > 256) return 0;  // blame() reads once a line
  const udtcat::Error blamed = file->blame(status.error(), read);
  if (blamed.message().empty()) __builtin_trap();
  return 0;
}

}  // namespace fuzz_config
