// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_options.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tool/cli/shell_words.hpp"

namespace udtcat::ssh {

namespace {

using tool::CommandLine;
using tool::misplaced;

constexpr std::chrono::milliseconds kAcceptTimeout{30'000};  // spec: docs/spec/rsh.md §1

void add_port_option(CommandLine& line, PortRange& ports) {
  line.value("--port", [&](const std::string& text) { return tool::store(parse_port_range(text), ports); });
}

tool::Words far_options_of(const CommandLine& line, const SshDialOptions& options) {
  tool::Words words;
  for (const char* name : {"--port", "--protect", "--cipher", "--block", "--lanes", "--rate", "--congestion",
                           "--offload", "--memory", "--idle-timeout"})
    if (const auto text = line.text(name)) words.push_back(fmt::format("{}={}", name, *text));
  // The others reach each other.
  if (options.transport.kind == TransportKind::tcp) words.emplace_back("--transport=tcp");
  for (int i = 0; i < options.verbosity; ++i) words.emplace_back("-v");
  // The far end waits until we have given up UDP, and longer.
  words.push_back(fmt::format("--accept-timeout={}ms", (options.connect_timeout + kAcceptTimeout).count()));
  return words;
}

}  // namespace

Status check_destination(const std::string& text) {
  const auto at = text.rfind('@');
  const char* const wrong = at == 0                                            ? "a user is missing in front of the @"
                            : at != std::string::npos && at + 1 == text.size() ? "a host is missing behind the @"
                            : text.ends_with(':') && !text.ends_with("::")     ? "no colon follows the host here"
                                                                               : nullptr;
  return wrong == nullptr ? Status{} : misplaced(fmt::format("\"{}\"", text), wrong);
}

std::string host_of(std::string destination) {
  constexpr std::string_view kScheme = "ssh://";
  if (destination.starts_with(kScheme)) {
    destination.erase(0, kScheme.size());
    destination.erase(std::min(destination.find('/'), destination.size()));
    const auto port = destination.rfind(':');
    if (port != std::string::npos && destination.find(']', port) == std::string::npos) destination.erase(port);
  }
  if (const auto at = destination.rfind('@'); at != std::string::npos) destination.erase(0, at + 1);
  return destination;
}

void add_ssh_dial_options(CommandLine& line, SshDialOptions& options) {
  add_port_option(line, options.ports);
  line.value("--udp-host", options.udp_host);
  line.value_is(":host");
  line.value("--remote-udtcat", options.remote_program);
  line.value("--ssh", [&](const std::string& text) -> Status {
    auto words = tool::split_words(text);
    if (!words || words->empty())
      return tool::bad_value("--ssh", text, "a program with its words, and quotes that end, as in 'ssh -p 2222'");
    // ssh would take the next word, which is ours, as the value.
    const std::string& last = words->back();
    if (is_ssh(words->front()) && last.starts_with('-') && takes_next_word(last))
      return tool::bad_value("--ssh", text, fmt::format("a value for its {}", last));
    options.ssh_program = std::move(*words);
    return {};
  });
  line.flag("--push", options.push);
}

void add_push_progress_options(CommandLine& line, SshDialOptions& options) {
  add_progress_options(line, options);
  line.check([&]() -> Status {
    options.push_progress = std::exchange(options.progress, options.progress.value_or(false));
    options.is_chat = false;  // nobody types while a program is pushed
    return {};
  });
}

void finish_ssh_dial_options(const CommandLine& line, SshDialOptions& options) {
  if (!line.has("--connect-timeout")) options.connect_timeout = kUdpTimeout;
  options.closed_port_patience = options.connect_timeout;
  options.far_options = far_options_of(line, options);
}

Status require_udp(SshDialOptions& options) {
  if (options.transport.kind == TransportKind::tcp)
    return misplaced("--require-udp and --transport tcp", "allowed: one of them");
  if (options.transport.kind == TransportKind::automatic) options.transport.kind = TransportKind::native;
  return {};
}

void add_far_session_options(CommandLine& line, tool::Options& options) {
  add_protection_options(line, options);
  tool::add_session_options(line, options);
  add_transport_options(line, options);
  add_rate_option(line, options);
  add_log_options(line, options);
  line.check([&]() -> Status {
    if (options.session.protection == Protection::clear)
      return misplaced("--protect \"clear\"", "an end that ssh starts always proves the key");
    return {};
  });
}

void add_far_options(CommandLine& line, FarOptions& options) {
  options.accept_timeout = kAcceptTimeout;
  options.progress = false;
  add_port_option(line, options.ports);
  add_far_session_options(line, options);
  add_accept_timeout_option(line, options);
}

}  // namespace udtcat::ssh
