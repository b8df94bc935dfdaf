#include "gridftp/command.hpp"

#include <algorithm>
#include <cctype>

namespace udtcat::gridftp {

namespace {

constexpr unsigned char kTelnetFirst =
    0xf0;  // spec: RFC 854: commands; no UTF-8 text has such a byte but as a lead of four

FtpCommand command_of(std::string_view line) {
  const auto blank = line.find(' ');
  FtpCommand command;
  for (const char letter : line.substr(0, blank))
    if (static_cast<unsigned char>(letter) < kTelnetFirst)
      command.verb += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  if (blank != std::string_view::npos) command.argument = line.substr(blank + 1);
  return command;
}

}  // namespace

Result<std::optional<FtpCommand>> CommandReader::next() {
  if (!failed_) {
    const auto end = arrived_.find('\n', searched_);
    if (end != std::string::npos && end <= kMostBytes) {
      std::string line = arrived_.substr(0, end);
      arrived_.erase(0, end + 1);
      searched_ = 0;
      if (line.ends_with('\r')) line.pop_back();
      return command_of(line);
    }
    searched_ = arrived_.size();
    if (end == std::string::npos && arrived_.size() <= kMostBytes) return std::nullopt;
    failed_ = true;
  }
  return fail(Errc::protocol_violated, "read an FTP command", "it is too long");
}

}  // namespace udtcat::gridftp
