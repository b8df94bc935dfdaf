// SPDX-License-Identifier: Apache-2.0
// Any text gives a list or an error that names a line; a peer of a list is found by its name and by its key.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tool/identity/peers_list.hpp"

namespace fuzz_peers_file {

using namespace udtcat;
using namespace udtcat::tool;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // SAFETY: char may alias anything.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto list = PeersList::parse(text, "list");
  if (!list && (list.error().code != Errc::bad_argument || !list.error().what.starts_with("list:"))) std::abort();
  if (!list) return 0;
  const auto named = list->find(text.substr(0, text.find_first_of(" \t\r\n")));
  if (named != nullptr && list->find(named->key) != named) std::abort();
  return 0;
}

}  // namespace fuzz_peers_file
