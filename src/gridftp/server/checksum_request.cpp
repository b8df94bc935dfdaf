// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/checksum_request.hpp"

#include <array>
#include <string_view>

#include "gridftp/mode_e/incoming_file.hpp"
#include "lib/core/text.hpp"

namespace udtcat::gridftp {

std::optional<ChecksumRequest> parse_checksum_request(const std::string& text) {
  std::array<std::string_view, 3> words;
  std::string_view rest = text;
  for (std::string_view& word : words) {
    const auto blank = rest.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    word = rest.substr(0, blank);
    rest.remove_prefix(blank + 1);
  }
  const auto offset = core::parse_number<std::uint64_t>(words[1]);
  const auto bytes = core::parse_number<std::uint64_t>(words[2]);
  const bool to_the_end = words[2] == "-1";
  if (rest.empty() || !offset || *offset > IncomingFile::kMaxBytes || (!bytes && !to_the_end)) return std::nullopt;
  return ChecksumRequest{std::string(words[0]), *offset, bytes, std::string(rest)};
}

}  // namespace udtcat::gridftp
