// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/control_relay.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "gridftp/dialogue/command.hpp"
#include "gridftp/dialogue/data_port.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr const char* kAuthRefused =
    "534 Not through this gateway: it reads the control connection, which is in the clear up to it and sealed behind "
    "it. "
    "Log in without AUTH.";
constexpr const char* kFamilyRefused =
    "502 Not through this gateway: use PASV, SPAS, PORT or SPOR, which it can follow.";
constexpr const char* kStackRefused = "504 Not through this gateway: data of another stack than tcp would go past it.";

/// Whether a command may begin with it; Telnet's control bytes may stand before one.
bool begins_command(char c) { return c > ' ' && c < 0x7f; }

/// One word, and what stands behind it without the blanks around.
struct SplitCommand {
  std::string first;  // in capitals
  std::string_view rest;
};

SplitCommand split(std::string_view text) {
  text.remove_prefix(static_cast<std::size_t>(std::ranges::find_if(text, begins_command) - text.begin()));
  const auto end = std::min(text.find_first_of(kBlanks), text.size());
  const auto begin = std::min(text.find_first_not_of(kBlanks, end), text.size());
  const auto last = text.find_last_not_of(kBlanks);
  return {to_upper(text.substr(0, end)),
          begin < text.size() ? text.substr(begin, last + 1 - begin) : std::string_view()};
}

std::string_view without_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

bool names_ports(const std::string& command) { return command == "PORT" || command == "SPOR"; }

/// Ports that a PORT or SPOR names; none where one of them is no address.
std::optional<std::vector<Endpoint>> read_ports(const SplitCommand& command) {
  std::vector<Endpoint> ports;
  std::string_view rest = command.rest;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto port = parse_data_port(rest.substr(0, end));
    if (!port || ports.size() == kMaxDataPorts) return std::nullopt;
    ports.push_back(*port);
    rest.remove_prefix(std::min(rest.find_first_not_of(' ', end), rest.size()));
  }
  if (ports.empty() || (ports.size() > 1 && command.first == "PORT")) return std::nullopt;
  return ports;
}

/// The transport of "udt:mss=9000,gsi" is udt.
bool is_tcp_stack(std::string_view stack) { return to_upper(stack.substr(0, stack.find_first_of(",:;"))) == "TCP"; }

/// Why a command is refused; none: it is passed on.
std::optional<std::string> refusal_of(const SplitCommand& command) {
  if (command.first == "AUTH" || command.first == "ADAT") return kAuthRefused;
  for (const char* each : {"EPSV", "EPRT", "LPSV", "LPRT", "UPAS", "UPRT"})
    if (command.first == each) return kFamilyRefused;
  if ((command.first == "PASV" || command.first == "SPAS") && !command.rest.empty()) return kFamilyRefused;
  const bool names_port = to_upper(command.rest).find("PORT=") != std::string::npos;
  if ((command.first == "GET" || command.first == "PUT") && names_port) return kFamilyRefused;
  if (command.first != "SITE") return std::nullopt;
  const SplitCommand site = split(command.rest);
  if (site.first == "UPAS" || site.first == "UPRT") return kFamilyRefused;
  if (site.first == "SETNETSTACK" && !is_tcp_stack(site.rest)) return kStackRefused;
  return std::nullopt;
}

/// Replies whose lines say where the server waits for data; 1xx where OPTS PASV AllowDelayed has put it off.
bool tells_ports(int code) { return code == 227 || code == 229 || code == 127 || code == 129; }

}  // namespace

template <typename TakeLine>
Status ControlRelay::each_line(Lines& lines, std::string_view bytes, std::size_t most_bytes, TakeLine take) {
  lines.arrived += bytes;
  std::size_t begin = 0;
  for (;;) {
    const auto end = lines.arrived.find('\n', std::max(begin, lines.searched));
    const auto line_bytes = (end == std::string::npos ? lines.arrived.size() : end + 1) - begin;
    if (line_bytes > most_bytes)
      return fail(Errc::protocol_violated, "pass a line of a control connection on",
                  "it is longer than " + std::to_string(most_bytes) + " bytes");
    if (end == std::string::npos) break;
    UDTCAT_CHECK(take(std::string_view(lines.arrived).substr(begin, line_bytes)));
    begin = end + 1;
  }
  lines.arrived.erase(0, begin);
  lines.searched = lines.arrived.size();
  return {};
}

Status ControlRelay::from_local(std::string_view bytes, Output& out) {
  if (local_ == LocalPeer::client)
    return each_line(from_local_, bytes, kMaxCommandBytes,
                     [&](std::string_view line) { return observe_command(line, out); });
  return each_line(from_local_, bytes, kMaxReplyLineBytes,
                   [&](std::string_view line) { return observe_reply(line, out); });
}

Status ControlRelay::from_session(std::string_view bytes, Output& out) {
  if (local_ == LocalPeer::client)
    return each_line(from_session_, bytes, kMaxReplyLineBytes,
                     [&](std::string_view line) { return rewrite_reply(line, out); });
  return each_line(from_session_, bytes, kMaxCommandBytes,
                   [&](std::string_view line) { return rewrite_command(line, out); });
}

// ---- Commands: client → server -------------------------------------------------------------------------------------

Status ControlRelay::observe_command(std::string_view line, Output& out) {
  const SplitCommand command = split(without_end(line));
  if (auto refusal = refusal_of(command)) return answer(std::move(*refusal), out);
  if (names_ports(command.first)) {
    const auto ports = read_ports(command);
    if (!ports) return answer("501 " + command.first + " takes addresses of the form h1,h2,h3,h4,p1,p2.", out);
    bool first = true;
    for (const Endpoint& port : *ports)
      if (auto status = ports_.announce(port, std::exchange(first, false)); !status)
        return answer("504 Not through this gateway: " + status.error().message() + '.', out);
  }
  if (!command.first.empty()) ++asked_;
  out.to_session += line;
  return {};
}

Status ControlRelay::rewrite_command(std::string_view line, Output& out) {
  const std::string_view text = without_end(line);
  const SplitCommand command = split(text);
  if (!names_ports(command.first)) {
    out.to_local += line;
    return {};
  }
  const auto ports = read_ports(command);
  if (!ports) return fail(Errc::protocol_violated, "read where data shall go", '"' + core::printable(text, 80) + '"');
  std::string rewritten = command.first;
  for (const Endpoint& port : *ports) {
    UDTCAT_TRY(const auto ours, ports_.stand_in(port, rewritten == command.first));
    rewritten += ' ' + to_data_port(ours);
  }
  out.to_local += rewritten;
  out.to_local += line.substr(text.size());
  return {};
}

// ---- Replies: server → client ---------------------------------------------------------------------------------------

Status ControlRelay::observe_reply(std::string_view line, Output& out) {
  const ReplyLine reply = reply_of(without_end(line));
  if (tells_ports(reply.code))
    if (const auto port = find_data_port(line))
      UDTCAT_CHECK(ports_.announce(port->endpoint, !std::exchange(port_in_reply_, true)));
  out.to_session += line;
  return {};
}

Status ControlRelay::rewrite_reply(std::string_view line, Output& out) {
  const ReplyLine reply = reply_of(without_end(line));
  const auto port = tells_ports(reply.code) ? find_data_port(line) : std::nullopt;
  if (port) {
    UDTCAT_TRY(const auto ours, ports_.stand_in(port->endpoint, !std::exchange(port_in_reply_, true)));
    out.to_local += line.substr(0, port->at);
    out.to_local += to_data_port(ours);
    out.to_local += line.substr(port->at + port->bytes);
  } else {
    out.to_local += line;
  }
  constexpr int kFirstFinalCode = 200;  // spec: RFC 959 §4.2.1
  if (!reply.last || reply.code < kFirstFinalCode) return {};
  answered_ = std::min(answered_ + 1, asked_);  // a 421 may come without a command
  give_due_answers(out);
  return {};
}

ControlRelay::ReplyLine ControlRelay::reply_of(std::string_view line) {
  const auto start = read_reply_start(line);
  if (open_reply_ == 0) {
    port_in_reply_ = false;
    if (!start) return {};
    if (start->continues) open_reply_ = start->code;
    return {start->code, !start->continues};
  }
  const int code = open_reply_;
  const bool last = start && start->code == code && !start->continues;
  if (last) open_reply_ = 0;
  return {code, last};
}

/// Queues a reply of ours until the server has replied to all earlier commands.
Status ControlRelay::answer(std::string text, Output& out) {
  if (answers_.size() == kMaxAnswers)
    return fail(Errc::protocol_violated, "refuse a command", "the client waits for too many answers");
  answers_.push_back({asked_, std::move(text)});
  give_due_answers(out);
  return {};
}

void ControlRelay::give_due_answers(Output& out) {
  while (!answers_.empty() && answers_.front().behind <= answered_) {
    out.to_local += answers_.front().text + "\r\n";
    answers_.pop_front();
  }
}

}  // namespace udtcat::gridftp
