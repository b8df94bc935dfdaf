// SPDX-License-Identifier: Apache-2.0
#include "pipe/pipe_options.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/bench_service.hpp"
#include "lib/core/try.hpp"
#include "lib/net/bind_errors.hpp"
#include "tool/cli/applications.hpp"

namespace udtcat::pipe {

namespace {

constexpr std::uint16_t kAlternativePorts = 8000;  // guess: 80 → 8080, 443 → 8443

constexpr const char* kForms = "allowed: HOST PORT, HOST:PORT, -l [ADDR:]PORT, or a command; see udtcat help";

bool forwards(const tool::CommandLine& line) { return line.has("--to") || line.has("--from"); }

/// A ticket is for a pipe.
Status read_ticket_operand(const tool::CommandLine& line, PipeOptions& options) {
  const tool::Words& words = line.operands();
  if (words.size() != 1) return tool::misplaced("a ticket", "allowed: alone, as in udtcat TICKET");
  return tool::take_ticket(line, words.front(), options);
}

Status read_operands(const tool::CommandLine& line, PipeOptions& options) {
  const tool::Words& words = line.operands();
  options.listens = options.shows_new_key = line.has("-l");
  const bool has_ticket = std::ranges::any_of(words, Ticket::is_meant);
  if ((has_ticket || options.ticket.file) && forwards(line))
    return tool::misplaced("a ticket with --to or --from",
                           "it is for one transfer; both ends of a forward have a key that lasts, and --via");
  options.mode = Mode::connect;
  if (has_ticket) return read_ticket_operand(line, options);
  if (options.ticket.file && words.empty()) return {};
  if (options.ticket.file)
    return tool::misplaced(fmt::format("--ticket and \"{}\"", fmt::join(words, " ")),
                           "allowed: without HOST and PORT, as the ticket has its place");
  if (options.via && words.empty()) {
    options.mode = forwards(line) ? Mode::forward : options.listens ? Mode::listen : Mode::connect;
    if (!options.listens) options.peer = *options.via;  // for messages
    options.ticket.may_be_made = options.mode == Mode::connect;
    return {};
  }
  if (options.via && !options.listens)
    return tool::misplaced(fmt::format("--via and \"{}\"", fmt::join(words, " ")),
                           "allowed: without HOST and PORT, which the listener tells by the meeting place");
  if (options.listens) {
    if (words.size() != 1)
      return tool::misplaced(words.empty() ? "-l" : fmt::format("-l \"{}\"", fmt::join(words, " ")),
                             "takes one [ADDR:]PORT, as in 9000 or 192.0.2.1:9000; several ports need a listener each");
    options.mode = forwards(line) ? Mode::forward : Mode::listen;
    return tool::store(tool::local_address_value("-l", words.front()), options.local);
  }
  if (words == tool::Words{"keygen"}) {
    options.mode = Mode::keygen;
    const tool::Words written = line.written();
    return written.empty() ? Status{}
                           : tool::misplaced("keygen and " + written.front(), "udtcat keygen has no options");
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (words.size() > 1 && words.front() == "keygen" && !std::ranges::all_of(words[1], is_digit))
    return tool::misplaced(
        fmt::format("arguments \"{}\"", fmt::join(words, " ")),
        fmt::format("a key is printed, as in (umask 077; udtcat keygen > {0}); a key pair is made by "
                    "udtcat keygen --pair {0}",
                    words[1]));
  options.mode = forwards(line) ? Mode::forward : Mode::connect;
  if (words.size() == 1 && words.front().find(':') != std::string::npos)
    return tool::store(tool::remote_address_value("HOST:PORT", words.front()), options.peer);
  const bool has_port = words.size() == 2 && std::ranges::count(words[0], ':') == 1;  // an IPv6 address has more
  const bool is_port = words.size() == 1 && std::ranges::all_of(words[0], is_digit);
  if (words.size() == 1)
    return tool::misplaced(fmt::format("arguments \"{}\"", words[0]),
                           is_port
                               ? fmt::format("a host is missing, as in udtcat HOST {0}; udtcat -l {0} waits", words[0])
                               : fmt::format("a port is missing, as in udtcat {} 9000; {}", words[0], kForms));
  if (words.size() != 2 || has_port || !std::ranges::all_of(words[1], is_digit))
    return tool::misplaced(words.empty() ? "no arguments" : fmt::format("arguments \"{}\"", fmt::join(words, " ")),
                           kForms);
  return tool::store(tool::host_and_port(words[0], words[1]), options.peer);
}

/// Refuses options that would have no effect in this mode.
Status check_places(const tool::CommandLine& line, const PipeOptions& options) {
  if (line.has("--connect-timeout") && options.listens)
    return tool::misplaced("--connect-timeout", "allowed with HOST PORT only; with -l it is --accept-timeout");
  if (line.has("--accept-timeout") && options.mode != Mode::listen && !options.ticket.may_be_made)
    return tool::misplaced("--accept-timeout", "allowed with -l and without --to and --from only");
  if (options.ticket.wanted && !options.ticket.may_be_made)
    return tool::misplaced("--new-ticket", "allowed for a pipe by --via, without -l, --to and --from");
  if (line.has("--once") && (options.listens || options.mode != Mode::forward))
    return tool::misplaced("--once", "allowed with HOST PORT and --from or --to only");
  for (const char* limit : {"--max-peers", "--max-sessions", "--max-streams", "--total-memory"})
    if (line.has(limit) && (!options.listens || options.mode != Mode::forward))
      return tool::misplaced(limit, "allowed with -l and --to or --from only");
  if (line.has("--wait") && !line.has("--from")) return tool::misplaced("--wait", "allowed with --from only");
  if (options.mode != Mode::forward) return {};
  if (line.has("--exec")) return tool::misplaced("--exec with --to or --from", "allowed: one of them");
  for (const char* direction : {"--send-only", "--recv-only", "--size"})
    if (line.has(direction))
      return tool::misplaced(direction, "allowed for stdin and stdout only, not with --to or --from");
  return {};
}

/// Refuses options of a session with --plain, which has none.
Status check_plain(const tool::CommandLine& line, PipeOptions& options) {
  if (!options.plain) return {};
  for (const char* name : {"-k", "--protect", "--cipher", "--lanes", "--threads", "--block", "--flows", "--as",
                           "--peer", "--peers", "--trust-first", "--via", "--ticket", "--new-ticket"})
    if (line.has(name))
      return tool::misplaced(fmt::format("--plain and {}", name),
                             "--plain has no session: no key, no cipher, no blocks");
  if (options.ticket.key) return tool::misplaced("--plain and a ticket", "--plain has no session, and no key");
  for (const char* name : {"--to", "--from", "--exec"})
    if (line.has(name))
      return tool::misplaced(fmt::format("--plain and {}", name),
                             "--plain has one stream, which is for stdin and stdout");
  if (options.transport.kind == TransportKind::tcp)
    return tool::misplaced("--plain and --transport \"tcp\"", "the other end of --plain is a program of UDT4");
  options.session.protection = Protection::clear;
  options.transport.idle_timeout = options.session.idle_timeout;
  return {};
}

/// The service's own port, or 8000 more where that needs a privilege.
int port_for(const forward::SocketSpec& address) {
  return address.tcp.port + (address.tcp.port < net::kFirstUnprivilegedPort ? kAlternativePorts : 0);
}

/// The options of the other end that fit ours.
std::string counterparts(const PipeOptions& options) {
  std::string text;
  for (const forward::ServiceOption& each : options.services) {
    const std::string name = each.name.empty() ? "" : "=" + each.name;
    text += each.address.is_unix() ? fmt::format(" --from PORT{}", name)
                                   : fmt::format(" --from {}{}", port_for(each.address), name);
  }
  for (const forward::LocalListenerOption& each : options.listeners)
    text += fmt::format(" --to {}HOST:PORT", each.service.empty() ? "" : each.service + "=");
  return text;
}

/// The options of forwards, which the other modes have too.
void add_forward_options(tool::CommandLine& line, PipeOptions& options) {
  line.flag("-l,--listen");
  line.values("--to", [&](const std::string& text) -> Status {
    UDTCAT_TRY(forward::ServiceOption service, forward::service_value(text));
    options.services.push_back(std::move(service));
    return {};
  });
  line.value_is(":host");
  line.values("--from", [&](const std::string& text) -> Status {
    UDTCAT_TRY(forward::LocalListenerOption listener, forward::local_listener_value(text));
    options.listeners.push_back(std::move(listener));
    return {};
  });
  tool::add_limit_options(line, options);
  line.flag("--once", options.once);
  line.value("--wait", [&](const std::string& text) {
    return tool::store(tool::duration_value("--wait", text, std::chrono::milliseconds(0)), options.wait);
  });
  tool::add_key_options(line, options);
  tool::add_protection_options(line, options);
  tool::add_session_options(line, options);
  tool::add_transport_options(line, options);
  tool::add_bind_option(line, options);
  tool::add_rate_option(line, options);
  tool::add_family_options(line, options);
  tool::add_connect_timeout_option(line, options);
  tool::add_via_options(line, options);
  tool::add_log_options(line, options);
  line.flag("--why", options.why);
  line.flag("--check", options.check);
  tool::add_progress_options(line, options);
  line.check([&] { return read_operands(line, options); });
  line.check([&]() -> Status {
    const bool forward = options.mode == Mode::forward;
    options.session.one_stream = !forward;
    if (!forward) options.session.application = tool::kPipe;
    // At clear nobody proves a key: any host could have us send.
    if (options.mode == Mode::listen && options.session.protection != Protection::clear)
      options.further.push_back(bench::application_beside(options.session));
    options.socket_family = options.family;
    if (!forward) {
      options.limits.peers = options.limits.sessions_per_peer = 1;
      return {};
    }
    options.session.application = tool::kForward;
    for (const forward::ServiceOption& each : options.services) options.session.services.push_back(each.name);
    options.counterpart += counterparts(options);
    forward::leave_tcp_port_to_its_user(options);
    return forward::check_services(options.services);
  });
}

void add_stream_options(tool::CommandLine& line, PipeOptions& options) {
  line.flag("--plain", options.plain);
  line.value("--exec", [&](const std::string& text) -> Status {
    if (text.empty()) return tool::bad_value("--exec", "", "a command for sh -c, as in 'zfs recv pool/data'");
    options.exec = text;
    return {};
  });
  line.value_is(":command");
  line.flag("--send-only");
  line.flag("--recv-only");
  line.exclusive("--send-only", "--recv-only");
  line.value("--size", [&](const std::string& text) -> Status {
    constexpr std::size_t kMostBytes = std::numeric_limits<std::int64_t>::max();  // spec: POSIX off_t
    UDTCAT_TRY(options.expected_bytes, tool::size_value("--size", text, 1, kMostBytes));
    return {};
  });
  line.check([&]() -> Status {
    options.session.sends = !line.has("--recv-only");
    options.session.receives = !line.has("--send-only");
    options.is_chat = !options.exec;
    if (line.has("--recv-only") && line.has("--rate"))
      return tool::misplaced("--rate and --recv-only", "it limits what is sent: give it to the end that sends");
    return {};
  });
}

void add_pipe_options(tool::CommandLine& line, PipeOptions& options) {
  add_forward_options(line, options);
  add_stream_options(line, options);
  tool::add_ticket_options(line, options);
  tool::add_accept_timeout_option(line, options);
  line.value("--config", [](const std::string& path) -> Status {
    return tool::misplaced("--config " + path, "it comes first, as in udtcat --config FILE, and then only options");
  });
  line.value_is(":file");
  line.question("-V,--version", options.asks_version);
  line.check([&] { return check_plain(line, options); });
  line.check([&] { return check_places(line, options); });
}

}  // namespace

Result<PipeOptions> parse_pipe_options(const tool::Words& words) {
  PipeOptions options;
  tool::CommandLine line("udtcat");
  add_pipe_options(line, options);
  UDTCAT_CHECK(line.read(words));
  options.help = line.wants_help();
  if (options.help || !options.asks_version) return options;
  PipeOptions question;
  question.mode = Mode::version;
  return question;
}

Result<PipeOptions> parse_forward_options(const std::string& command, const tool::Words& words) {
  PipeOptions options;
  options.counterpart = command + " {host} {port}{options}";
  tool::CommandLine line(command);
  add_forward_options(line, options);
  line.check([&] { return check_places(line, options); });
  UDTCAT_CHECK(line.read(words));
  options.help = line.wants_help();
  if (options.help) return options;
  const auto is_tcp = [](const auto& each) { return !each.address.is_unix(); };
  const bool has_no_names =
      std::ranges::all_of(options.services, &std::string::empty, &forward::ServiceOption::name) &&
      std::ranges::all_of(options.listeners, &std::string::empty, &forward::LocalListenerOption::service);
  const bool has_tcp = std::ranges::all_of(options.services, is_tcp) && std::ranges::all_of(options.listeners, is_tcp);
  const bool is_one_way = options.listens ? options.listeners.empty() : options.services.empty();
  if (options.mode != Mode::forward || !has_no_names || !has_tcp || !is_one_way)
    return tool::misplaced(
        command,
        "allowed: -l [ADDR:]PORT --to HOST:PORT beside the server, HOST PORT --from [ADDR:]PORT beside clients");
  return options;
}

tool::DeclaredOptions pipe_options_declared() { return tool::declared_by(add_pipe_options); }
tool::DeclaredOptions forward_options_declared() { return tool::declared_by(add_forward_options); }

}  // namespace udtcat::pipe
