// SPDX-License-Identifier: Apache-2.0
#include "gridftp/command/gridftp_options.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "gridftp/mode_e/data_port_range.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/applications.hpp"
#include "tool/cli/process_setup.hpp"

namespace udtcat::gridftp {

namespace {

using tool::CommandLine;
using tool::misplaced;
using tool::Words;

constexpr std::size_t kMaxParallelism = 64;  // guess: as many as Globus sites allow
constexpr std::size_t kMaxStripes = 64;      // guess
constexpr std::size_t kMaxRetries = 1'000'000;

/// "A-B": the bytes from A up to, and not including, B.
Result<files::ByteRange> range_value(const std::string& text) {
  const auto ranges = files::ByteRanges::parse(text);
  if (!ranges || ranges->size() != 1)
    return tool::bad_value("--range", text, "A-B, the bytes from A up to, and not including, B, as in 0-1048576");
  return ranges->ranges().front();
}

std::string last_word(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Status read_get(const Words& words, ClientOptions& options) {
  if (words.size() < 2) return misplaced("gridftp get", "needs a URL and a file, as in get ftp://host/path FILE");
  const std::string& target = words.back();
  std::error_code ignored;
  const bool directory = target.ends_with('/') || std::filesystem::is_directory(target, ignored);
  if (words.size() > 2 && !directory)
    return misplaced("gridftp get", fmt::format("several files go into a directory, and {} is none", target));
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    UDTCAT_TRY(auto url, parse_ftp_url(words[i]));
    const std::string name = last_word(url.path);
    if (directory && (name.empty() || name == "." || name == ".."))
      return misplaced("gridftp get " + words[i], "it names no file");
    const std::string local = directory ? (std::filesystem::path(target) / name).string() : target;
    if (std::ranges::any_of(options.files, [&](const GridftpFile& file) { return file.local == local; }))
      return misplaced("gridftp get", "two of the files would be " + local);
    options.files.push_back({std::move(url), local});
  }
  return {};
}

Status read_put(const Words& words, ClientOptions& options) {
  if (words.size() < 2) return misplaced("gridftp put", "needs a file and a URL, as in put FILE ftp://host/path");
  UDTCAT_TRY(const FtpUrl target, parse_ftp_url(words.back()));
  const bool directory = target.path.ends_with('/');
  if (words.size() > 2 && !directory)
    return misplaced("gridftp put", "several files go into a directory: a URL that ends with /");
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    FtpUrl url = target;
    if (directory && words[i] == kStdio) return misplaced("gridftp put -", "stdin has no name: the URL has to say it");
    if (directory) url.path += last_word(words[i]);
    if (!can_be_said(url.path))
      return misplaced("gridftp put " + core::printable(words[i], core::kShownBytes),
                       "its name has a line end or 0xFF, which FTP cannot carry: give the URL another name");
    if (std::ranges::any_of(options.files, [&](const GridftpFile& file) { return file.remote.path == url.path; }))
      return misplaced("gridftp put", "two of the files would be " + url.to_string());
    options.files.push_back({std::move(url), words[i]});
  }
  return {};
}

Status read_tree(const Words& words, ClientOptions& options) {
  const bool get = options.verb == Verb::get;
  if (options.transfer.range) return misplaced("-r", "a range is of one file");
  if (words.empty() || words.size() > 2 || (!get && words.size() == 1))
    return misplaced(get ? "gridftp get -r" : "gridftp put -r", get ? "is written get -r ftp://host/path [DIRECTORY]"
                                                                    : "is written put -r DIRECTORY ftp://host/path");
  UDTCAT_TRY(auto url, parse_ftp_url(get ? words.front() : words.back()));
  while (url.path.ends_with('/')) url.path.pop_back();
  std::string local = get ? (words.size() == 1 ? last_word(url.path) : words.back()) : words.front();
  if (local.empty() || local == kStdio || (words.size() == 1 && (local == "." || local == "..")))
    return misplaced("gridftp get -r " + words.front(), "the local directory needs a name");
  options.files.push_back({std::move(url), std::move(local)});
  return {};
}

Status read_copy(const Words& words, ClientOptions& options) {
  if (words.size() != 2) return misplaced("gridftp copy", "needs two URLs, as in copy ftp://a/path ftp://b/path");
  UDTCAT_TRY(options.from, parse_ftp_url(words[0]));
  UDTCAT_TRY(options.to, parse_ftp_url(words[1]));
  if (options.from.to_string() == options.to.to_string())
    return misplaced("gridftp copy", "the two URLs are the same file");
  if (options.to.path.ends_with('/')) options.to.path += last_word(options.from.path);
  return {};
}

void add_number(CommandLine& line, const char* names, const char* name, std::size_t least, std::size_t most,
                std::size_t& into) {
  line.value(names, [=, &into](const std::string& text) {
    return tool::store(tool::number_value(name, text, least, most), into);
  });
}

/// An address without a port: each data listener has its own.
Result<std::optional<Endpoint>> address_value(const std::string& text) {
  const auto found = resolve({text, 0}, AddressFamily::ipv4);
  if (!found)
    return tool::bad_value("--data-address", text, "an IPv4 address, or a name that has one; IPv6 needs none");
  return found->front();
}

void add_idle_timeout_option(CommandLine& line, DataEndpointOptions& data_endpoint) {
  line.check([&]() -> Status {
    data_endpoint.idle_timeout_written = line.has("--idle-timeout");
    return {};
  });
}

void add_data_endpoint_options(CommandLine& line, DataEndpointOptions& data_endpoint) {
  line.value("--data-ports", [&](const std::string& text) -> Status {
    data_endpoint.ports = DataPortRange::parse(text);
    if (!data_endpoint.ports) return tool::bad_value("--data-ports", text, "LOW:HIGH, as in 50000:51000");
    return {};
  });
  line.value("--data-address",
             [&](const std::string& text) { return tool::store(address_value(text), data_endpoint.address); });
  line.check([&]() -> Status {
    const auto globus = tool::environment("GLOBUS_TCP_PORT_RANGE");
    if (globus && !data_endpoint.ports) data_endpoint.ports = DataPortRange::parse(*globus);
    if (globus && !data_endpoint.ports)
      return tool::bad_value("GLOBUS_TCP_PORT_RANGE", *globus, "LOW,HIGH, as in 50000,51000");
    return {};
  });
}

/// Common to clients and the server.
void add_common_options(CommandLine& line, tool::Options& options, bool& protection_written) {
  add_key_options(line, options);
  add_protection_options(line, options);
  add_session_options(line, options);
  add_transport_options(line, options);
  add_connect_timeout_option(line, options);
  add_log_options(line, options);
  add_progress_options(line, options);
  line.refuse("--via",
              "a server is found by its URL, and its data connections by addresses; udtcat gridftp gateway "
              "--via at both ends brings clients and servers together, stock ones too");
  line.check([&]() -> Status {
    for (const char* name : {"-k", "--protect", "--cipher", "--as", "--peer", "--peers", "--trust-first"})
      protection_written = protection_written || line.has(name);
    return {};
  });
}

/// Refuses --over tcp or udt with options of protection, which they cannot have.
Status check_over(const CommandLine& line, const ClientOptions& options) {
  if (!options.over || options.over == DataKind::session || !options.protection_written) return {};
  if (line.text("--protect") == "clear") return {};
  return misplaced(fmt::format("--over {}", *line.text("--over")),
                   "nothing is protected over it; a key, its options, --protect and --cipher go with --over session");
}

void add_client_options(CommandLine& line, ClientOptions& options) {
  auto& transfer = options.transfer;
  add_number(line, "-p,--parallelism", "--parallelism", 1, kMaxParallelism, transfer.parallelism);
  add_number(line, "-s,--stripes", "--stripes", 1, kMaxStripes, transfer.stripes);
  add_number(line, "--retries", "--retries", 0, kMaxRetries, transfer.retries);
  line.value("--range", [&](const std::string& text) { return tool::store(range_value(text), transfer.range); });
  line.choice("--over", {"tcp", "udt", "session"}, [&](const std::string& text) -> Status {
    options.over = text == "tcp" ? DataKind::tcp : text == "udt" ? DataKind::udt : DataKind::session;
    return {};
  });
  line.flag("--clear-control", options.clear_control);
  if (options.verb != Verb::copy) line.flag("-r,--recursive", options.recursive);
  if (options.verb == Verb::put)
    add_rate_option(line, options);
  else
    line.refuse("--rate", "it limits what is sent: give it to the server that sends");
  line.flag("--why", options.why);
  if (options.verb == Verb::get) add_data_endpoint_options(line, options.data_endpoint);
  add_idle_timeout_option(line, options.data_endpoint);
  add_common_options(line, options, options.protection_written);
  add_bind_option(line, options);
  line.check([&] { return check_over(line, options); });
}

Status read_words(const Words& words, ClientOptions& options) {
  if (options.recursive) return read_tree(words, options);
  UDTCAT_CHECK(options.verb == Verb::get   ? read_get(words, options)
               : options.verb == Verb::put ? read_put(words, options)
                                           : read_copy(words, options));
  options.is_chat = std::ranges::any_of(options.files, [](const GridftpFile& file) { return file.local == kStdio; });
  return {};
}

Status read_place(const CommandLine& line, ServerOptions& options) {
  if (!line.has("--root")) return misplaced("gridftp serve", "needs --root DIR, the directory that is served");
  const bool listen_written = line.has("-l");
  if (line.operands().size() != (listen_written ? 1U : 0U))
    return misplaced("gridftp serve", "is written serve --root DIR [-l [ADDR:]PORT]");
  const std::string text = listen_written ? line.operands().front() : std::to_string(kDefaultPort);
  options.address_written = text.find(':') != std::string::npos;
  return tool::store(tool::local_address_value("-l", text), options.local);
}

void add_server_options(CommandLine& line, ServerOptions& options) {
  line.flag("-l,--listen");
  line.value("--root", options.root);
  line.value_is(":directory");
  line.flag("--check", options.check);
  line.flag("--read-only", options.read_only);
  line.flag("--anonymous-writable", options.anonymous_writable);
  line.flag("--third-party", options.third_party);
  line.choice("--auth", {"anonymous", "key"}, [&](const std::string& text) -> Status {
    options.auth = text == "key" ? ServeAuth::key : ServeAuth::anonymous;
    return {};
  });
  add_family_options(line, options);
  add_rate_option(line, options);
  add_data_endpoint_options(line, options.data_endpoint);
  add_idle_timeout_option(line, options.data_endpoint);
  add_common_options(line, options, options.protection_written);
  line.refuse("--bind",
              "it is for the end that connects; a server's address stands before its port, as in -l "
              "192.0.2.1:2811");
  line.check([&]() -> Status {
    if (options.read_only && options.anonymous_writable)
      return misplaced("gridftp serve", "--read-only and --anonymous-writable contradict each other");
    options.protection_written = options.protection_written || options.auth == ServeAuth::key;
    return {};
  });
}

std::vector<const FtpUrl*> urls_of(const ClientOptions& options) {
  if (options.verb == Verb::copy) return {&options.from, &options.to};
  std::vector<const FtpUrl*> urls;
  for (const GridftpFile& file : options.files) urls.push_back(&file.remote);
  return urls;
}

/// Refuses a clear control connection beside protected data, unless --clear-control allows it.
Status check_control(ClientOptions& options, bool protects) {
  const auto urls = urls_of(options);
  const auto clear = std::ranges::find_if(urls, [](const FtpUrl* url) { return !url->sealed; });
  const bool unproved = protects && clear != urls.end();
  if (options.clear_control && !unproved) return misplaced("--clear-control", "it goes with a key and an ftp:// URL");
  if (!unproved) return {};
  if (!options.clear_control)
    return fail(
        Errc::parameters_refused, "protect " + core::printable((*clear)->to_string(), core::kShownBytes),
        "a key proves the data, but not the name, the range, the size and the replies on a control connection in the "
        "clear: udtcat://HOST/PATH has a server of ours seal that too (serve --auth key); --clear-control does "
        "without");
  if (options.session.protection >= Protection::safe) options.transfer.data.statements = Statements::wanted;
  return {};
}

Status decide_audience(ServerOptions& options, bool has_key) {
  if (!options.auth) options.auth = has_key ? ServeAuth::key : ServeAuth::anonymous;
  if (options.auth == ServeAuth::key && options.anonymous_writable)
    return misplaced("gridftp serve --anonymous-writable",
                     "with a key only its holders come in; --auth anonymous lets the others in");
  if (options.auth == ServeAuth::key) return {};
  options.read_only = !options.anonymous_writable;
  if (!options.address_written) options.local.host = options.family == AddressFamily::ipv6 ? "::1" : "127.0.0.1";
  return {};
}

DataOptions data_options(const tool::Options& options, DataKind kind) {
  DataOptions data;
  data.kind = kind;
  data.session = options.session;
  data.session.application = tool::kDriver;
  data.transport = options.transport;
  data.connect_timeout = options.connect_timeout;
  return data;
}

}  // namespace

Result<ClientOptions> parse_client_options(Verb verb, const Words& arguments) {
  ClientOptions options;
  options.verb = verb;
  CommandLine line(fmt::format("udtcat gridftp {}", verb == Verb::get ? "get" : verb == Verb::put ? "put" : "copy"));
  add_client_options(line, options);
  UDTCAT_CHECK(line.read(arguments));
  options.help = line.wants_help();
  if (options.help) return options;
  UDTCAT_CHECK(read_words(line.operands(), options));
  options.peer = urls_of(options).front()->server;
  return options;
}

tool::DeclaredOptions client_options_declared(Verb verb) {
  ClientOptions unused;
  unused.verb = verb;
  CommandLine line("udtcat gridftp");
  add_client_options(line, unused);
  return line.declared();
}

tool::DeclaredOptions server_options_declared() { return tool::declared_by(add_server_options); }

Result<ServerOptions> parse_server_options(const Words& arguments) {
  ServerOptions options;
  options.listens = true;
  CommandLine line("udtcat gridftp serve");
  add_server_options(line, options);
  UDTCAT_CHECK(line.read(arguments));
  options.help = line.wants_help();
  if (!options.help) UDTCAT_CHECK(read_place(line, options));
  return options;
}

Status decide_protection(ClientOptions& options, bool has_key_candidate) {
  const auto urls = urls_of(options);
  const bool sealed = std::ranges::any_of(urls, &FtpUrl::sealed);
  const bool wants = options.protection_written || sealed || (has_key_candidate && !options.over);
  const DataKind kind = options.over.value_or(wants ? DataKind::session : DataKind::tcp);
  if (kind == DataKind::tcp && !options.transport.local_addresses.empty())
    return misplaced("--bind",
                     "over tcp the system chooses: it acts with --over session, which a key asks for, and udt");
  if (kind == DataKind::tcp && !options.transport.rate.unlimited())
    return misplaced("--rate",
                     "nothing limits what goes over tcp: it acts with --over session, which a key asks for, and udt");
  auto& level = options.session.protection;
  if (kind != DataKind::session && !sealed) level = Protection::clear;
  auto& transfer = options.transfer;
  transfer.data = data_options(options, kind);
  transfer.data.ports = options.data_endpoint.ports;
  transfer.data_address = options.data_endpoint.address;
  if (options.data_endpoint.idle_timeout_written)
    transfer.timeout = transfer.begin_timeout = options.session.idle_timeout;
  UDTCAT_CHECK(check_control(options, kind == DataKind::session && level > Protection::clear));
  // In a copy only the servers need a key.
  if (options.verb == Verb::copy && !sealed) level = Protection::clear;
  return {};
}

Status decide_protection(ServerOptions& options, bool has_key_candidate) {
  const bool wants = options.protection_written || has_key_candidate;
  UDTCAT_CHECK(decide_audience(options, wants));
  auto& level = options.session.protection;
  if (wants) options.least = level;
  // Without options a server with a key offers its protection, one without serves clear data.
  if (!wants)
    level = Protection::clear;
  else if (level == Protection::clear)
    level = Protection::private_;
  options.data = data_options(options, wants ? DataKind::session : DataKind::tcp);
  options.data.ports = options.data_endpoint.ports;
  options.data.statements = Statements::made;
  return {};
}

std::string help_text() {
  return R"(udtcat gridftp: a peer of programs that speak GridFTP, as Globus' do

  udtcat gridftp get  [options] URL... FILE|DIRECTORY|-       - is stdout
  udtcat gridftp put  [options] FILE...|- URL                 a URL that ends with / is a directory
  udtcat gridftp get  [options] -r URL [DIRECTORY]            what is in a directory, into a directory
  udtcat gridftp put  [options] -r DIRECTORY URL
  udtcat gridftp copy [options] URL URL                       from server to server
  udtcat gridftp serve --root DIR [-l [ADDR:]PORT] [-k FILE]
  udtcat gridftp gateway ...                                  for two sites that stay as they are; gateway --help

  URL: ftp://[USER@]HOST[:2811]/PATH, or udtcat:// for a server with a key

  -p, --parallelism N        data connections, 1 to 64 (1)
  -s, --stripes N            ask for a striped transfer; for get, to N ports here
  -r, --recursive            get, put: all files of a directory and of those below it
      --range A-B            only the bytes from A up to, and not including, B
      --over WHAT            tcp, udt (bare UDT4), session (sealed); with a key or --protect: session, else tcp
      --retries N            attempts in a row that may move nothing before it gives up (5)
      --connect-timeout T    how long each data connection is tried, and the session of udtcat:// (10s)
      --idle-timeout T       how long the server may say nothing (1m, and 1h before it begins a transfer, as from tape)
      --data-ports LOW:HIGH  get, serve: ports of this host for data (GLOBUS_TCP_PORT_RANGE, else any)
      --data-address ADDR    get, serve: this host's address as others see it, where a NAT translates
      --clear-control        with a key and ftp://: names, ranges and sizes may go in the clear, unproved but by our own
                             servers
  serve:
  -l, --listen [ADDR:]PORT   where clients come (2811); without a key clients of this host only, until an address is
                             given: *:2811 is all of them
      --idle-timeout T       how long a client may let nothing move in a transfer (5m; 10m with a key)
      --root DIR             what they see; nothing outside can be reached
      --read-only            nobody changes anything: so it is without a key
      --auth WHO             key: key holders, sealed, by UDP: so it is with one; anonymous: everybody, by TCP
      --anonymous-writable   everybody may also write and delete
      --third-party          data may go to, and come from, other hosts than the client's: for transfers between servers
      --protect LEVEL        with a key: what data must have at least
      --check                only say what would be done
      -4, -6                 IPv4 only, IPv6 only
  all, as udtcat (udtcat --help):
  -k, --key-file, --as, --peer, --peers, --trust-first, --protect, --cipher, --block, --lanes, --threads, --flows,
  --transport, --no-tcp, --proxy, --congestion, --offload, --memory, --idle-timeout, -v, --verbose, -q, --quiet,
  --progress, --no-progress, --stats, --name, --metrics, --status-group, --log-format;
  put and serve: --rate; get, put and copy: --why, --bind

A file is FILE.part until it is whole; called again, get and put go on where they were cut. Over tcp and udt NOTHING is
protected, neither the login nor the data.
)";
}

std::string gateway_help_text() {
  return R"(udtcat gridftp gateway: GridFTP between two sites, whose programs stay as they are, over a session of ours

  udtcat gridftp gateway -l [ADDR:]PORT --to HOST:2811      beside the FTP server
  udtcat gridftp gateway HOST PORT --from [ADDR:]2811       beside the clients, for whom it is the server

Control and data connections, those of a transfer between two servers too, are streams of one session, sealed as
--protect says. IPv4 is all that PORT and PASV know. The options are as of udtcat (udtcat --help):
  -l, --listen, -k, --key-file, --as, --peer, --peers, --trust-first, --protect, --cipher, --block, --lanes, --threads,
  --flows, --bind, --via, --via-key, --stun, --transport, --no-tcp, --proxy, --congestion, --offload, --memory, --rate,
  --connect-timeout, --idle-timeout, -4, -6, -v, --verbose, -q, --quiet, --progress, --no-progress, --stats, --name,
  --metrics, --status-group, --log-format, --why, --check, --wait, --once, --max-peers, --max-sessions,
  --max-streams, --total-memory
Log in without GSI (ftp://): the gateway has to read where data goes. -data-cred auto still seals the data from end to
end.

  globus-url-copy -p 8 ftp://GATEWAY:2811/path file:///path
)";
}

}  // namespace udtcat::gridftp
