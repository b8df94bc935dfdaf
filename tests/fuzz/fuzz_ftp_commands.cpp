// SPDX-License-Identifier: Apache-2.0
// Any bytes as what an FTP client says, as the operands in it, and as what a restart journal says: total, bounded, and
// the same however the bytes come.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "files/byte_ranges.hpp"
#include "gridftp/dialogue/command.hpp"
#include "gridftp/dialogue/data_port.hpp"
#include "gridftp/dialogue/url.hpp"
#include "gridftp/disk/restart_journal.hpp"
#include "gridftp/server/checksum_request.hpp"
#include "gridftp/server/name_pattern.hpp"

namespace fuzz_ftp_commands {

using namespace udtcat::gridftp;
namespace files = udtcat::files;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<FtpCommand> read_in_steps(std::string_view text, std::size_t step) {
  CommandReader reader;
  std::vector<FtpCommand> commands;
  for (std::size_t at = 0; at < text.size(); at += step) {
    reader.push(text.substr(at, step));
    for (;;) {
      auto command = reader.next();
      require(command.has_value());  // no input here is as long as the bound
      if (!*command) break;
      commands.push_back(std::move(**command));
    }
  }
  return commands;
}

/// Absolute, and without a word that leads upwards.
void require_inside(const std::string& path) {
  require(path.starts_with('/') && path.find("//") == std::string::npos);
  require((path + '/').find("/../") == std::string::npos && (path + '/').find("/./") == std::string::npos);
  require(absolute_path("/", path) == path || path.starts_with("/~"));
}

void read_operands(const std::string& argument) {
  require_inside(absolute_path("/", argument));
  require_inside(absolute_path("/some/where", argument));
  if (const auto ranges = files::ByteRanges::parse(argument))
    require(files::ByteRanges::parse(ranges->to_text()).value().ranges() == ranges->ranges());
  if (const auto port = parse_extended_port(argument)) require(port->port() > 0);
  if (const auto request = parse_checksum_request(argument)) require(argument.ends_with(' ' + request->path));
  require(matches("*", argument) != argument.starts_with('.'));
  if (!is_pattern(argument)) require(matches(argument, argument));
  if (const auto port = parse_data_port(argument)) require(parse_data_port(to_data_port(*port)).value() == *port);
}

void read_journal(std::string_view text) {
  const std::string head = RestartJournal::to_text("boot", "source", {});
  const std::string journal = head.substr(0, head.size() - 1) + std::string(text);
  for (const std::string_view each : {text, std::string_view(journal)}) {
    const files::ByteRanges have = RestartJournal::parse(each, "boot", "source").value_or(files::ByteRanges());
    const std::string again = RestartJournal::to_text("boot", "source", have);
    require(RestartJournal::parse(again, "boot", "source")->ranges() == have.ranges());
    require(!RestartJournal::parse(again, "boot", "another"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto commands = read_in_steps(text, 7);
  require(commands == read_in_steps(text, text.size() + 1));
  for (const FtpCommand& command : commands) {
    require(command.verb.find_first_of("\n ") == std::string::npos && command.argument.find('\n') == std::string::npos);
    read_operands(command.argument);
  }
  read_journal(text);
  return 0;
}

}  // namespace fuzz_ftp_commands
