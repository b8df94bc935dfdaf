#include "tool/pipe_options.hpp"

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
  udtcat -l [ADDR:]PORT --to HOST:PORT    serve a TCP service to many peers
  udtcat HOST PORT --from [ADDR:]PORT     carry local TCP connections to the service behind HOST
  udtcat --plain HOST PORT                bare bytes to any UDT4 program, unprotected; likewise --plain -l [ADDR:]PORT
  udtcat keygen                           print a new key
  udtcat --config FILE                    the same from a file: an option a line, and listen, or host and port
  udtcat status                           who is connected to the udtcats of this host; udtcat status --help
  udtcat rsh [USER@]HOST COMMAND...       run a command over ssh's login and our transport; udtcat rsh --help
  udtcat gridftp VERB ...                 get, put, copy, serve files as Globus' GridFTP; gateway; udtcat gridftp --help
)";

constexpr const char* kOptions = R"(
Key (else $UDTCAT_KEY, else: a connector asks on the terminal, a listener shows a new one there):
  -k, --key-file FILE        a file that only you can read
      --as NAME              what this end is called
      --peer NAME            what the other end has to be called
Protection (the same at both ends):
      --protect LEVEL        private (default), safe, auth or clear
      --cipher NAME          aes-256-gcm, aes-128-gcm or chacha20-poly1305 (default: the faster 256-bit one)
Direction:
      --send-only            take nothing from the peer
      --recv-only            read nothing from stdin
      --exec CMD             a command for sh -c in place of stdin and stdout; receipted when it has ended with 0
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

Status read_operands(const CommandLine& line, PipeOptions& options) {
  const Words& words = line.operands();
  options.listens = line.has("-l");
  if (options.listens) {
    if (words.size() != 1) return misplaced("-l", "needs one argument, [ADDR:]PORT, as in 9000 or 192.0.2.1:9000");
    options.form = line.has("--to") ? Form::serve : Form::listen;
    return store(local_address_value("-l", words.front()), options.local);
  }
  if (words == Words{"keygen"}) {
    options.form = Form::keygen;
    const Words written = line.written();
    return written.empty() ? Status{} : misplaced("keygen and " + written.front(), "udtcat keygen has no options");
  }
  if (words.size() != 2)
    return misplaced(words.empty() ? "no arguments" : fmt::format("arguments \"{}\"", fmt::join(words, " ")), kForms);
  options.form = line.has("--from") ? Form::forward : Form::connect;
  return store(host_and_port(words[0], words[1]), options.peer);
}

/// An option in a place where it would do nothing is a misunderstanding, which had better be cleared up now.
Status check_places(const CommandLine& line, const PipeOptions& options) {
  if (line.has("--to") && !options.listens)
    return misplaced("--to", "allowed with -l only; with HOST PORT it is --from");
  if (line.has("--from") && options.listens)
    return misplaced("--from", "allowed with HOST PORT only; with -l it is --to");
  if (line.has("--connect-timeout") && options.listens)
    return misplaced("--connect-timeout", "allowed with HOST PORT only; with -l it is --accept-timeout");
  if (line.has("--accept-timeout") && options.form != Form::listen)
    return misplaced("--accept-timeout", "allowed with -l and without --to only");
  if (options.form != Form::serve && options.form != Form::forward) return {};
  if (line.has("--exec"))
    return misplaced(options.listens ? "--exec and --to" : "--exec and --from", "allowed: one of the two");
  for (const char* direction : {"--send-only", "--recv-only"})
    if (line.has(direction)) return misplaced(direction, "allowed for stdin and stdout only, not with --to or --from");
  return {};
}

/// Options of a session have no place where there is none.
Status check_plain(const CommandLine& line, PipeOptions& options) {
  if (!options.plain) return {};
  for (const char* name :
       {"-k", "--protect", "--cipher", "--lanes", "--threads", "--block", "--flows", "--as", "--peer"})
    if (line.has(name))
      return misplaced(fmt::format("--plain and {}", name), "--plain has no session: no key, no cipher, no blocks");
  for (const char* name : {"--to", "--from", "--exec"})
    if (line.has(name))
      return misplaced(fmt::format("--plain and {}", name), "--plain has one stream, which is for stdin and stdout");
  options.session.protection = Protection::clear;
  options.transport.idle_timeout = options.session.idle_timeout;
  return {};
}

Status read_front(const std::string& text, PipeOptions& options) {
  UDTCAT_CHECK(store(local_address_value("--from", text), options.front));
  // As with ssh -L, the whole world is let in only if the user says so.
  const bool everywhere = text.starts_with("*");
  if (options.front.host.empty() && !everywhere)
    options.front.host = options.family == AddressFamily::ipv6 ? "::1" : "127.0.0.1";
  return {};
}

/// The options of forms in which TCP is carried, which the others have too.
void add_relay_options(CommandLine& line, PipeOptions& options) {
  line.flag("-l,--listen");
  line.value("--to",
             [&](const std::string& text) { return store(remote_address_value("--to", text), options.service); });
  line.value("--from", [](const std::string&) { return Status{}; });  // read_front() needs the family
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
    const bool forward = options.form == Form::serve || options.form == Form::forward;
    if (forward) options.session.purpose = Purpose::forward;
    options.session.one_stream = !forward;
    // The service's own port, or a like one that needs no privilege.
    const int port = options.service.port + (options.service.port < kFirstUnprivilegedPort ? kAlternativePorts : 0);
    if (options.form == Form::serve) options.counterpart += fmt::format(" --from {}", port);
    const auto front = line.text("--from");
    return front ? read_front(*front, options) : Status{};
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
  if (options.form != Form::serve && options.form != Form::forward)
    return misplaced(
        command,
        "allowed: -l [ADDR:]PORT --to HOST:PORT beside the server, HOST PORT --from [ADDR:]PORT beside clients");
  return options;
}

Words form_facts(const PipeOptions& options) {
  const std::string where = options.listens ? "waits for peers at " + place_text("udp", options.local, options.family)
                                            : "connects to udp " + to_string(options.peer);
  switch (options.form) {
    case Form::serve:
      return {where, "connects each of their streams to tcp " + to_string(options.service)};
    case Form::forward:
      return {where, "carries connections to " + place_text("tcp", options.front, options.family)};
    default:
      break;
  }
  const std::string what = options.exec ? "the command " + quoted(*options.exec) : "standard input and output";
  return {where, options.listens ? "bridges the first to " + what : "bridges " + what};
}

std::string help_text() { return kSynopsis + std::string(kOptions) + exit_status_text() + kExamples; }

}  // namespace udtcat::tool
