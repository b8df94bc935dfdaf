// SPDX-License-Identifier: Apache-2.0
#include "tool/pipe_options.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "lib/core/try.hpp"

namespace udtcat::tool {

namespace {

constexpr std::uint16_t kFirstUnprivilegedPort = 1024;  // spec: Linux net.ipv4.ip_unprivileged_port_start, and custom
constexpr std::uint16_t kAlternativePorts = 8000;       // custom: 80 → 8080, 443 → 8443

constexpr const char* kForms = "allowed: HOST PORT, HOST:PORT, -l [ADDR:]PORT, or a command; see udtcat help";

bool forwards(const CommandLine& line) { return line.has("--to") || line.has("--from"); }

Status read_operands(const CommandLine& line, PipeOptions& options) {
  const Words& words = line.operands();
  options.listens = options.shows_new_key = line.has("-l");
  if (options.listens) {
    if (words.size() != 1)
      return misplaced(words.empty() ? "-l" : fmt::format("-l \"{}\"", fmt::join(words, " ")),
                       "takes one [ADDR:]PORT, as in 9000 or 192.0.2.1:9000; several ports need a listener each");
    options.form = forwards(line) ? Form::forward : Form::listen;
    return store(local_address_value("-l", words.front()), options.local);
  }
  if (words == Words{"keygen"}) {
    options.form = Form::keygen;
    const Words written = line.written();
    return written.empty() ? Status{} : misplaced("keygen and " + written.front(), "udtcat keygen has no options");
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (words.size() > 1 && words.front() == "keygen" && !std::ranges::all_of(words[1], is_digit))
    return misplaced(fmt::format("arguments \"{}\"", fmt::join(words, " ")),
                     fmt::format("a key is printed, as in (umask 077; udtcat keygen > {0}); a key pair is made by "
                                 "udtcat keygen --pair {0}",
                                 words[1]));
  options.form = forwards(line) ? Form::forward : Form::connect;
  if (words.size() == 1 && words.front().find(':') != std::string::npos)
    return store(remote_address_value("HOST:PORT", words.front()), options.peer);
  const bool has_port = words.size() == 2 && std::ranges::count(words[0], ':') == 1;  // an IPv6 address has more
  const bool is_port = words.size() == 1 && std::ranges::all_of(words[0], is_digit);
  if (words.size() == 1)
    return misplaced(fmt::format("arguments \"{}\"", words[0]),
                     is_port ? fmt::format("a host is missing, as in udtcat HOST {0}; udtcat -l {0} waits", words[0])
                             : fmt::format("a port is missing, as in udtcat {} 9000; {}", words[0], kForms));
  if (words.size() != 2 || has_port || !std::ranges::all_of(words[1], is_digit))
    return misplaced(words.empty() ? "no arguments" : fmt::format("arguments \"{}\"", fmt::join(words, " ")), kForms);
  return store(host_and_port(words[0], words[1]), options.peer);
}

/// An option in a place where it would do nothing is a misunderstanding, which had better be cleared up now.
Status check_places(const CommandLine& line, const PipeOptions& options) {
  if (line.has("--connect-timeout") && options.listens)
    return misplaced("--connect-timeout", "allowed with HOST PORT only; with -l it is --accept-timeout");
  if (line.has("--accept-timeout") && options.form != Form::listen)
    return misplaced("--accept-timeout", "allowed with -l and without --to and --from only");
  if (line.has("--once") && (options.listens || options.form != Form::forward))
    return misplaced("--once", "allowed with HOST PORT and --from or --to only");
  for (const char* limit : {"--max-peers", "--max-sessions", "--max-streams", "--total-memory"})
    if (line.has(limit) && (!options.listens || options.form != Form::forward))
      return misplaced(limit, "allowed with -l and --to or --from only");
  if (line.has("--wait") && !line.has("--from")) return misplaced("--wait", "allowed with --from only");
  if (options.form != Form::forward) return {};
  if (line.has("--exec")) return misplaced("--exec with --to or --from", "allowed: one of them");
  for (const char* direction : {"--send-only", "--recv-only", "--size"})
    if (line.has(direction)) return misplaced(direction, "allowed for stdin and stdout only, not with --to or --from");
  return {};
}

/// Options of a session have no place where there is none.
Status check_plain(const CommandLine& line, PipeOptions& options) {
  if (!options.plain) return {};
  for (const char* name : {"-k", "--protect", "--cipher", "--lanes", "--threads", "--block", "--flows", "--as",
                           "--peer", "--peers", "--trust-first"})
    if (line.has(name))
      return misplaced(fmt::format("--plain and {}", name), "--plain has no session: no key, no cipher, no blocks");
  for (const char* name : {"--to", "--from", "--exec"})
    if (line.has(name))
      return misplaced(fmt::format("--plain and {}", name), "--plain has one stream, which is for stdin and stdout");
  options.session.protection = Protection::clear;
  options.transport.idle_timeout = options.session.idle_timeout;
  return {};
}

/// The service's own port, or a like one that needs no privilege.
int port_for(const SocketPlace& place) {
  return place.tcp.port + (place.tcp.port < kFirstUnprivilegedPort ? kAlternativePorts : 0);
}

/// The options of the other end that fit ours.
std::string counterparts(const PipeOptions& options) {
  std::string text;
  for (const ServiceOption& each : options.services) {
    const std::string name = each.name.empty() ? "" : "=" + each.name;
    text += each.place.is_unix() ? fmt::format(" --from PORT{}", name)
                                 : fmt::format(" --from {}{}", port_for(each.place), name);
  }
  for (const FrontOption& each : options.fronts)
    text += fmt::format(" --to {}HOST:PORT", each.service.empty() ? "" : each.service + "=");
  return text;
}

/// The options of forms in which TCP is carried, which the others have too.
void add_forward_options(CommandLine& line, PipeOptions& options) {
  line.flag("-l,--listen");
  line.values("--to", [&](const std::string& text) -> Status {
    UDTCAT_TRY(ServiceOption service, service_value(text));
    options.services.push_back(std::move(service));
    return {};
  });
  line.values("--from", [&](const std::string& text) -> Status {
    UDTCAT_TRY(FrontOption front, front_value(text));
    options.fronts.push_back(std::move(front));
    return {};
  });
  add_limit_options(line, options);
  line.flag("--once", options.once);
  line.value("--wait", [&](const std::string& text) {
    return store(duration_value("--wait", text, std::chrono::milliseconds(0)), options.wait);
  });
  add_key_options(line, options);
  add_protection_options(line, options);
  add_session_options(line, options);
  add_transport_options(line, options);
  add_rate_option(line, options);
  add_family_options(line, options);
  add_connect_timeout_option(line, options);
  add_log_options(line, options);
  add_why_option(line, options);
  add_check_option(line, options);
  add_progress_options(line, options);
  line.check([&] { return read_operands(line, options); });
  line.check([&]() -> Status {
    const bool forward = options.form == Form::forward;
    options.session.one_stream = !forward;
    // At clear nobody proves anything: strangers could have us send.
    options.session.takes_bench = options.form == Form::listen && options.session.protection != Protection::clear;
    options.socket_family = options.family;
    if (!forward) {
      options.limits.peers = options.limits.sessions_per_peer = 1;
      return {};
    }
    options.session.purpose = Purpose::forward;
    for (const ServiceOption& each : options.services) options.session.services.push_back(each.name);
    options.counterpart += counterparts(options);
    return check_services(options.services);
  });
}

void add_stream_options(CommandLine& line, PipeOptions& options) {
  line.flag("--plain", options.plain);
  line.value("--exec", [&](const std::string& text) -> Status {
    if (text.empty()) return bad_value("--exec", "", "a command for sh -c, as in 'zfs recv pool/data'");
    options.exec = text;
    return {};
  });
  line.flag("--send-only");
  line.flag("--recv-only");
  line.exclusive("--send-only", "--recv-only");
  line.value("--size", [&](const std::string& text) -> Status {
    constexpr std::size_t kMostBytes = std::numeric_limits<std::int64_t>::max();  // spec: POSIX off_t
    UDTCAT_TRY(options.expected_bytes, size_value("--size", text, 1, kMostBytes));
    return {};
  });
  line.check([&]() -> Status {
    options.session.sends = !line.has("--recv-only");
    options.session.receives = !line.has("--send-only");
    options.is_chat = !options.exec;
    if (line.has("--recv-only") && line.has("--rate"))
      return misplaced("--rate and --recv-only", "it limits what is sent: give it to the end that sends");
    return {};
  });
}

void add_pipe_options(CommandLine& line, PipeOptions& options) {
  add_forward_options(line, options);
  add_stream_options(line, options);
  add_accept_timeout_option(line, options);
  line.value("--config", [](const std::string& path) -> Status {
    return misplaced("--config " + path, "it comes first, as in udtcat --config FILE, and then only options");
  });
  line.question("-V,--version", options.asks_version);
  line.check([&] { return check_plain(line, options); });
  line.check([&] { return check_places(line, options); });
}

}  // namespace

Result<PipeOptions> parse_pipe_options(const Words& words) {
  PipeOptions options;
  CommandLine line("udtcat");
  add_pipe_options(line, options);
  UDTCAT_CHECK(line.read(words));
  if (line.wants_help()) return PipeOptions{};
  if (!options.asks_version) return options;
  PipeOptions question;
  question.form = Form::version;
  return question;
}

Result<PipeOptions> parse_forward_options(const std::string& command, const Words& words) {
  PipeOptions options;
  options.counterpart = command + " {host} {port}{options}";
  CommandLine line(command);
  add_forward_options(line, options);
  line.check([&] { return check_places(line, options); });
  UDTCAT_CHECK(line.read(words));
  if (line.wants_help()) return PipeOptions{};
  const auto is_tcp = [](const auto& each) { return !each.place.is_unix(); };
  const bool has_no_names = std::ranges::all_of(options.services, &std::string::empty, &ServiceOption::name) &&
                            std::ranges::all_of(options.fronts, &std::string::empty, &FrontOption::service);
  const bool has_tcp = std::ranges::all_of(options.services, is_tcp) && std::ranges::all_of(options.fronts, is_tcp);
  const bool is_one_way = options.listens ? options.fronts.empty() : options.services.empty();
  if (options.form != Form::forward || !has_no_names || !has_tcp || !is_one_way)
    return misplaced(
        command,
        "allowed: -l [ADDR:]PORT --to HOST:PORT beside the server, HOST PORT --from [ADDR:]PORT beside clients");
  return options;
}

DeclaredOptions pipe_options_declared() { return declared_by(add_pipe_options); }
DeclaredOptions forward_options_declared() { return declared_by(add_forward_options); }

}  // namespace udtcat::tool
