// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/reply.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "lib/core/printable.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kCodeDigits = 3;      // spec: RFC 959 §4.2
constexpr std::size_t kMaxTextBytes = 512;  // guess: for a person

tl::unexpected<Error> not_a_reply(std::string_view line) {
  return fail(Errc::protocol_violated, "read a reply of the FTP server", core::printable(line, 80));
}

std::string text_of(std::string_view line) { return std::string(line.substr(std::min(kCodeDigits + 1, line.size()))); }

}  // namespace

std::optional<ReplyStart> read_reply_start(std::string_view line) {
  if (line.size() < kCodeDigits) return std::nullopt;
  int code = 0;
  for (const char digit : line.substr(0, kCodeDigits)) {
    if (std::isdigit(static_cast<unsigned char>(digit)) == 0) return std::nullopt;
    code = 10 * code + (digit - '0');
  }
  const char behind = line.size() == kCodeDigits ? ' ' : line[kCodeDigits];
  if (code < 100 || code >= 600 || (behind != ' ' && behind != '-')) return std::nullopt;
  return ReplyStart{code, behind == '-'};
}

Reply make_reply(int code, std::string text) {
  Reply made;
  made.code = code;
  made.lines.push_back(std::move(text));
  return made;
}

std::string Reply::text() const {
  std::string all;
  for (const std::string& line : lines) {
    if (!all.empty() && !line.empty()) all += ' ';
    all += line;
  }
  return core::printable(all, kMaxTextBytes);
}

namespace {

/// Replaces control characters, as of a file's name, which would end the line or move a terminal's cursor.
Reply harmless(Reply reply) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  for (std::string& line : reply.lines)
    for (char& each : line)
      if (static_cast<unsigned char>(each) < kFirstPrintable || static_cast<unsigned char>(each) == kDelete) each = '?';
  return reply;
}

}  // namespace

std::string to_wire(const Reply& what) {
  const Reply reply = harmless(what);
  if (reply.lines.empty()) return fmt::format("{}\r\n", reply.code);
  std::string wire;
  for (std::size_t i = 0; i + 1 < reply.lines.size(); ++i)
    wire += i == 0 ? fmt::format("{}-{}\r\n", reply.code, reply.lines[i]) : reply.lines[i] + "\r\n";
  return wire + fmt::format("{} {}\r\n", reply.code, reply.lines.back());
}

Result<std::optional<Reply>> ReplyReader::next() {
  while (!failed_) {
    const auto end = arrived_.find('\n', searched_);
    if (end == std::string::npos) {
      searched_ = arrived_.size();
      if (pending_bytes_ + arrived_.size() <= kMaxBytes) return std::nullopt;
      failed_ = true;
      break;
    }
    std::string line = arrived_.substr(0, end);
    arrived_.erase(0, end + 1);
    searched_ = 0;
    if (line.ends_with('\r')) line.pop_back();
    auto reply = take(line);
    failed_ = !reply;
    if (!reply || *reply) return reply;
  }
  return fail(Errc::protocol_violated, "read a reply of the FTP server", "it is too long, or none");
}

/// Takes the next line. Inside a multi-line reply any line but its last is text.
Result<std::optional<Reply>> ReplyReader::take(const std::string& line) {
  const auto start = read_reply_start(line);
  pending_bytes_ += line.size();
  if (pending_bytes_ > kMaxBytes) return not_a_reply("too long");
  if (!pending_) {
    if (!start) return not_a_reply(line);
    pending_ = Reply{start->code, {text_of(line)}};
    if (start->continues) return std::nullopt;
  } else {
    const bool last = start && start->code == pending_->code && !start->continues;
    pending_->lines.push_back(last ? text_of(line) : line);
    if (!last) return std::nullopt;
  }
  pending_bytes_ = 0;
  return std::exchange(pending_, std::nullopt);
}

}  // namespace udtcat::gridftp
