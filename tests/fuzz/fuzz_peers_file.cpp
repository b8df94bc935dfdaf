// SPDX-License-Identifier: Apache-2.0
// Any text gives a list or an error that names a line; a peer of a list is found by its name and by each of its keys.
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
  for (const auto& [key, peer] : list->all()) {
    for (const Peer& line : list->lines_of(peer.name))
      if (line.key != key && !is_alike(line, peer)) std::abort();
    if (peer.directory.starts_with('/') || ("/" + peer.directory).find("/.") != std::string::npos) std::abort();
    if (peer.limit_bytes && peer.directory.empty()) std::abort();
    for (const auto& date : {peer.valid_after, peer.valid_before})
      if (date && parse_date(date_text(*date)) != date) std::abort();
  }
  const auto named = list->find(text.substr(0, text.find_first_of(" \t\r\n")));
  if (named != nullptr && !names_address(named->name) && list->find(named->key) != named) std::abort();
  return 0;
}

}  // namespace fuzz_peers_file
