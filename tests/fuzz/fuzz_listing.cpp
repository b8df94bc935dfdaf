// SPDX-License-Identifier: Apache-2.0
// Any bytes as a server's answer to MLSD: names of one file each, in order, none twice; or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "gridftp/dialogue/listed_entries.hpp"
#include "gridftp/dialogue/url.hpp"

namespace fuzz_listing {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace udtcat::gridftp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (missing_names_in(end_of_listing({.with_line_end = missing_names_in(text)})) != missing_names_in(text))
    std::abort();
  const auto entries = parse_listing(text);
  if (!entries) return 0;
  std::string_view last;
  for (const ListedEntry& entry : *entries) {
    if (entry.name <= last || entry.name == "." || entry.name == "..") std::abort();
    if (entry.name.find('/') != std::string::npos) std::abort();
    if (can_be_said(entry.name) == (entry.kind == ListedEntry::Kind::unsayable)) std::abort();
    last = entry.name;
  }
  return 0;
}

}  // namespace fuzz_listing
