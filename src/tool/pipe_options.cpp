#include "tool/pipe_options.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "tool/exit_status.hpp"
#include "tool/facts.hpp"
#include "tool/shell_words.hpp"

namespace udtcat::tool {

namespace {

constexpr const char* kSynopsis = R"(udtcat: an encrypted pipe for long fat networks

  udtcat -l [ADDR:]PORT                   wait; bridge the first peer that proves the key to stdin and stdout
  udtcat HOST PORT                        connect; bridge stdin and stdout; with --exec CMD, either way, a command
  udtcat -l [ADDR:]PORT --to HOST:PORT    serve a service to many peers
  udtcat HOST PORT --from [ADDR:]PORT     carry local clients to the service behind HOST, until stopped
                                          likewise the other way round: -l with --from, HOST PORT with --to
  udtcat --plain HOST PORT                bare bytes to any UDT4 program, unprotected; likewise --plain -l [ADDR:]PORT
  udtcat keygen                           print a new key, for two hosts and one purpose
  udtcat keygen --pair [FILE]             make a key pair of your own, and print what others know you by
  udtcat --config FILE                    the same from a file: an option a line, and listen, or host and port
  udtcat status                           who is connected to the udtcats of this host; udtcat status --help
  udtcat rsh [USER@]HOST COMMAND...       run a command over ssh's login and our transport; udtcat rsh --help
  udtcat gridftp VERB ...                 get, put, copy, serve files as Globus' GridFTP; gateway; udtcat gridftp --help
)";

constexpr const char* kOptions = R"(
Key (else $UDTCAT_KEY, or the pair below; else: a connector asks on the terminal, a listener shows a new one there):
  -k, --key-file FILE        a shared key, or one's own key pair: a file that only you can read
      --as NAME              what this end is called
      --peer NAME            what the other end has to be called
  Key pairs (from -k, else ~/.config/udtcat/identity):
      --peers FILE           who may come in: lines of NAME PUBLIC-KEY [PURPOSES] [to=NAME,...]; SIGHUP reads it
      --peer PUBLIC-KEY|NAME the listener that is meant (default: HOST), by its key or a name in ~/.config/udtcat/peers
      --trust-first          take an unknown listener's key for right, and write it down there
Protection (the same at both ends):
      --protect LEVEL        private (default), safe, auth or clear
      --cipher NAME          aes-256-gcm, aes-128-gcm or chacha20-poly1305 (default: the faster 256-bit one)
Direction:
      --send-only            take nothing from the peer
      --recv-only            read nothing from stdin
      --exec CMD             a command for sh -c in place of stdin and stdout; receipted when it has ended with 0
Forward (each may be written several times; services of one end have different names):
      --to [NAME=]SERVICE    what the other end's clients reach: HOST:PORT or unix:PATH
      --from PLACE[=NAME]    where our clients come, and the service they want: [ADDR:]PORT (loopback) or unix:PATH
      --wait T               how long a client waits for a session (10s)
      --once                 do not dial again: the end of the session is ours
      --max-peers N          of a listener: hosts that have a session (1024)
      --max-sessions N       of a listener: sessions of one host (1024)
      --max-streams N        of a listener: connections of one session, 1 to 1024 (1024)
      --total-memory SIZE    of a listener: that all sessions may hold (half of what this process may have)
Network:
  -4, -6                     IPv4 only, IPv6 only
      --connect-timeout T    how long to try (10s; 2s where the port is closed, unless given)
      --accept-timeout T     how long to wait for a peer (for ever)
      --idle-timeout T       silence after which the peer is lost (40s)
      --rate R               send no faster: bit/s, with k, M or G
      --flows N              UDT connections of a session, 1 to 16 (a connector: 1; a listener: as asked)
      --transport NAME       native or libudt
      --congestion NAME      of native: bbr (default), udt, or fixed, which sends at --rate
      --memory SIZE          of native: what may be under way, each way, 1MiB to 64GiB (256MiB)
      --plain                no session: any UDT4 program can be the other end; NOTHING is protected or proved
Work:
      --block SIZE           payload of a block, 4KiB to 1MiB (256KiB)
      --lanes N              cipher contexts, 1 to 64 (16)
      --threads N            cipher threads of this host, 1 to 256 (its cores)
Output, all on stderr:
  -v, -vv, -vvv              say more: peers, events, blocks
  -q, --quiet                only errors
      --progress, --no-progress   a line of progress (default: where a person watches)
      --stats FORM           json: one JSON object as the last line; json:10s: and one each 10 s; none (none)
      --check                only say what would be done
  -h, --help    --version

Times are seconds, or have ms, s or m. Sizes are bytes, or have KiB, MiB or GiB.

Exit status:
)";

constexpr const char* kExamples = R"(
Examples:
  udtcat -l 9000 > tree.tar               shows a key, and the command for the other host, which asks for it there:
  tar c tree | udtcat HOST 9000

  udtcat -l 9000 -k key --exec 'zfs recv pool/data'      and on the other host
  zfs send pool/data@now | udtcat HOST 9000 -k key --send-only

  udtcat -l 9000 -k key --to localhost:5432      and on the other host
  udtcat HOST 9000 -k key --from 5432
)";

constexpr std::uint16_t kFirstUnprivilegedPort = 1024;  // spec: Linux net.ipv4.ip_unprivileged_port_start, and custom
constexpr std::uint16_t kAlternativePorts = 8000;       // custom: 80 → 8080, 443 → 8443

constexpr const char* kForms = "allowed: HOST PORT, -l [ADDR:]PORT, or keygen; see udtcat --help";

bool forwards(const CommandLine& line) { return line.has("--to") || line.has("--from"); }

Status read_operands(const CommandLine& line, PipeOptions& options) {
  const Words& words = line.operands();
  options.listens = line.has("-l");
  if (options.listens) {
    if (words.size() != 1) return misplaced("-l", "needs one argument, [ADDR:]PORT, as in 9000 or 192.0.2.1:9000");
    options.form = forwards(line) ? Form::forward : Form::listen;
    return store(local_address_value("-l", words.front()), options.local);
  }
  if (words == Words{"keygen"}) {
    options.form = Form::keygen;
    const Words written = line.written();
    return written.empty() ? Status{} : misplaced("keygen and " + written.front(), "udtcat keygen has no options");
  }
  if (words.size() != 2)
    return misplaced(words.empty() ? "no arguments" : fmt::format("arguments \"{}\"", fmt::join(words, " ")), kForms);
  options.form = forwards(line) ? Form::forward : Form::connect;
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
  for (const char* direction : {"--send-only", "--recv-only"})
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
    const bool is_unix = !each.place.unix_path.empty();
    text += is_unix ? fmt::format(" --from PORT{}", name) : fmt::format(" --from {}{}", port_for(each.place), name);
  }
  for (const FrontOption& each : options.fronts)
    text += fmt::format(" --to {}HOST:PORT", each.service.empty() ? "" : each.service + "=");
  return text;
}

/// The options of forms in which TCP is carried, which the others have too.
void add_relay_options(CommandLine& line, PipeOptions& options) {
  line.flag("-l,--listen");
  line.values("--to", [&](const std::string& text) -> Status {
    UDTCAT_TRY(ServiceOption service, service_value(text));
    options.services.push_back(std::move(service));
    return {};
  });
  line.values("--from", [&](const std::string& text) -> Status {
    UDTCAT_TRY(FrontOption front, front_value(text, line.has("-6") ? "::1" : "127.0.0.1"));
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
  add_check_option(line, options);
  add_progress_options(line, options);
  line.check([&] { return read_operands(line, options); });
  line.check([&]() -> Status {
    const bool forward = options.form == Form::forward;
    options.session.one_stream = !forward;
    options.socket_family = options.family;
    if (!forward) return {};
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
  line.check([&]() -> Status {
    options.session.sends = !line.has("--recv-only");
    options.session.receives = !line.has("--send-only");
    if (line.has("--recv-only") && line.has("--rate"))
      return misplaced("--rate and --recv-only", "it limits what is sent: give it to the end that sends");
    return {};
  });
}

}  // namespace

Result<PipeOptions> parse_pipe_options(const Words& words) {
  PipeOptions options;
  CommandLine line("udtcat");
  add_relay_options(line, options);
  add_stream_options(line, options);
  add_accept_timeout_option(line, options);
  line.value("--config", [](const std::string& path) -> Status {
    return misplaced("--config " + path, "it comes first, as in udtcat --config FILE, and then only options");
  });
  bool version = false;
  line.question("--version", version);
  line.check([&] { return check_plain(line, options); });
  line.check([&] { return check_places(line, options); });
  UDTCAT_CHECK(line.read(words));
  if (line.wants_help()) return PipeOptions{};
  if (!version) return options;
  PipeOptions question;
  question.form = Form::version;
  return question;
}

Result<PipeOptions> parse_relay_options(const std::string& command, const Words& words) {
  PipeOptions options;
  options.counterpart = command + " {host} {port}{options}";
  CommandLine line(command);
  add_relay_options(line, options);
  line.check([&] { return check_places(line, options); });
  UDTCAT_CHECK(line.read(words));
  if (line.wants_help()) return PipeOptions{};
  const auto is_tcp = [](const auto& each) { return each.place.unix_path.empty(); };
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

namespace {

std::string service_text(const std::string& name) { return name.empty() ? "the service" : "the service " + name; }

std::string front_text(const SocketPlace& place, const PipeOptions& options) {
  return place.unix_path.empty() ? place_text("tcp", place.tcp, options.socket_family) : shown(place);
}

}  // namespace

Words form_facts(const PipeOptions& options) {
  const std::string where = options.listens ? "waits for peers at " + place_text("udp", options.local, options.family)
                                            : "connects to udp " + to_string(options.peer);
  if (options.form == Form::forward) {
    Words facts{where};
    for (const ServiceOption& each : options.services)
      facts.push_back(fmt::format("connects streams for {} to {}", service_text(each.name), shown(each.place)));
    for (const FrontOption& each : options.fronts)
      facts.push_back(fmt::format("carries clients of {} to {} of the other end", front_text(each.place, options),
                                  service_text(each.service)));
    if (!options.listens) facts.push_back(options.once ? "ends with its session" : "dials again for ever");
    return facts;
  }
  const std::string what = options.exec ? "the command " + quoted(*options.exec) : "standard input and output";
  return {where, options.listens ? "bridges the first to " + what : "bridges " + what};
}

std::string help_text() { return kSynopsis + std::string(kOptions) + exit_status_text() + kExamples; }

}  // namespace udtcat::tool
