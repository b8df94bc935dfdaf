// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/ftp_dialogue.hpp"

#include <array>
#include <cstdio>

namespace udtcat::test::e2e {

namespace {

constexpr std::size_t kHeaderBytes = 17;

void append_number(std::string& to, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) to += static_cast<char>(number >> shift & 0xff);
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(at, 8)) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

std::string block(std::uint8_t descriptor, std::uint64_t count, std::uint64_t offset, std::string_view payload) {
  std::string bytes(1, static_cast<char>(descriptor));
  append_number(bytes, count);
  append_number(bytes, offset);
  return bytes.append(payload);
}

void read_blocks(const TcpClient& from, BlocksRead& read) {
  read.whole = false;
  for (;;) {
    const std::string header = from.receive(kHeaderBytes);
    if (header.size() < kHeaderBytes) return;
    const auto descriptor = static_cast<std::uint8_t>(header[0]);
    const std::uint64_t offset = number_at(header, 9);
    if ((descriptor & kBlockEof) != 0) {
      read.ends = offset;
    } else {
      const std::string payload = from.receive(number_at(header, 1));
      if (read.content.size() < offset + payload.size()) read.content.resize(offset + payload.size());
      read.content.replace(offset, payload.size(), payload);
      read.payload += payload.size();
    }
    read.whole = (descriptor & kBlockEod) != 0;
    if (read.whole) return;
  }
}

std::string ftp_port(std::uint16_t port) {
  return "127,0,0,1," + std::to_string(port >> 8) + ',' + std::to_string(port & 0xff);
}

std::uint16_t port_in(const std::string& line) {
  std::array<unsigned, 6> numbers{};
  const auto begin = line.find("127,");
  if (begin == std::string::npos ||
      std::sscanf(line.c_str() + begin, "%u,%u,%u,%u,%u,%u", &numbers[0], &numbers[1], &numbers[2], &numbers[3],
                  &numbers[4], &numbers[5]) != static_cast<int>(numbers.size()))
    return 0;
  return static_cast<std::uint16_t>(numbers[4] << 8 | numbers[5]);
}

std::string read_line(const TcpClient& from) {
  std::string line;
  for (std::string byte = from.receive(1); !byte.empty() && byte != "\n"; byte = from.receive(1)) line += byte;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

FtpDialogue::FtpDialogue(std::uint16_t port, std::chrono::milliseconds patience) : control_(port, patience) { hear(); }

FtpDialogue::FtpDialogue(const char* from, std::uint16_t port) : control_(from, port, kAtOnce) { hear(); }

void FtpDialogue::log_in() {
  ask("USER anonymous");
  ask("PASS x");
  ask("MODE E");
}

int FtpDialogue::hear() {
  said_ = read_line(control_);
  if (said_.size() < 3) return 0;
  const std::string code = said_.substr(0, 3);
  if (said_.size() > 3 && said_[3] == '-')
    for (std::string line = " "; !line.empty() && !line.starts_with(code + ' ');)
      said_ += '\n' + (line = read_line(control_));
  return std::stoi(code);
}

int FtpDialogue::hear_end() {
  int code = hear();
  while (code >= 100 && code < 200) code = hear();
  return code;
}

int FtpDialogue::ask(const std::string& line) { return send(line) ? hear() : 0; }

std::uint16_t FtpDialogue::passive() { return ask("PASV") == 227 ? port_in(said_) : std::uint16_t{0}; }

}  // namespace udtcat::test::e2e
