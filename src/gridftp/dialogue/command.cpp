// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/command.hpp"

#include <cctype>
#include <utility>

namespace udtcat::gridftp {

namespace {

constexpr unsigned char kTelnetFirst = 0xf0;  // spec: RFC 854: commands; in UTF-8 only a lead of four bytes

FtpCommand command_of(std::string_view line) {
  const auto blank = line.find(' ');
  FtpCommand command;
  command.verb = to_upper(line.substr(0, blank));
  std::erase_if(command.verb, [](char letter) { return static_cast<unsigned char>(letter) >= kTelnetFirst; });
  if (blank == std::string_view::npos) return command;
  command.argument = line.substr(blank + 1);
  // Telnet says a byte 0xFF twice, and not all clients do.  spec: RFC 854
  for (auto at = command.argument.find("\xff\xff"); at != std::string::npos;
       at = command.argument.find("\xff\xff", at + 1))
    command.argument.erase(at, 1);
  return command;
}

}  // namespace

std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& letter : upper) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return upper;
}

void CommandReader::push(std::string_view bytes) {
  arrived_.erase(0, taken_);
  searched_ -= taken_;
  taken_ = 0;
  arrived_ += bytes;
}

Result<std::optional<FtpCommand>> CommandReader::next() {
  if (!failed_) {
    const auto end = arrived_.find('\n', searched_);
    if (end != std::string::npos && end - taken_ <= kMaxBytes) {
      std::string_view line = std::string_view(arrived_).substr(taken_, end - taken_);
      searched_ = taken_ = end + 1;
      if (line.ends_with('\r')) line.remove_suffix(1);
      return command_of(line);
    }
    arrived_.erase(0, std::exchange(taken_, 0));  // not a line at a time: there may be very many
    searched_ = arrived_.size();
    if (end == std::string::npos && arrived_.size() <= kMaxBytes) return std::nullopt;
    failed_ = true;
  }
  return fail(Errc::protocol_violated, "read an FTP command", "it is too long");
}

}  // namespace udtcat::gridftp
