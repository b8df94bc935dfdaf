// SPDX-License-Identifier: Apache-2.0
// Any bytes as what an FTP server says, and as each of the texts in it: what is understood is written and read back the
// same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "files/byte_ranges.hpp"
#include "gridftp/client/stored_file.hpp"
#include "gridftp/dialogue/data_port.hpp"
#include "gridftp/dialogue/reply.hpp"
#include "gridftp/dialogue/url.hpp"

namespace fuzz_ftp_text {

using namespace udtcat::gridftp;
namespace files = udtcat::files;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_replies(std::string_view text) {
  ReplyReader reader;
  for (std::size_t at = 0; at < text.size(); at += 5) {
    reader.push(text.substr(at, 5));
    for (;;) {
      const auto reply = reader.next();
      if (!reply) return require(!reader.next());
      if (!*reply) break;
      require((*reply)->code >= 100 && (*reply)->code < 600 && !(*reply)->lines.empty());
      std::ignore = passive_port(**reply);
      const auto server = parse_extended_port("|2|::1|2811|").value();
      if (const auto port = extended_passive_port(**reply, server)) require(port->port() != 0);
      if (const auto listed = parse_listed_file(**reply)) require(is_same_path(listed->path, listed->path));
      if (const auto ports = striped_passive_ports(**reply)) require(!ports->empty() && ports->size() <= kMaxDataPorts);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_replies(text);
  if (const auto port = parse_data_port(text)) require(parse_data_port(to_data_port(*port)).value() == *port);
  if (const auto port = parse_extended_port(text))
    require(parse_extended_port(to_extended_port(*port)).value() == *port);
  if (const auto ranges = files::ByteRanges::parse(text)) {
    require(ranges->size() <= files::ByteRanges::kMaxRanges);
    require(files::ByteRanges::parse(ranges->to_text()).value().ranges() == ranges->ranges());
  }
  if (const auto url = parse_ftp_url(text)) require(url->path.find_first_of("\r\n") == std::string::npos);
  return 0;
}

}  // namespace fuzz_ftp_text
