// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <boost/asio/ip/address.hpp>

#include <udtcat/ticket.hpp>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/applications.hpp"
#include "tool/cli/path_cache.hpp"
#include "tool/cli/proxy_choice.hpp"

namespace udtcat::tool {

using std::chrono::milliseconds;
using Text = std::string;

void add_key_options(CommandLine& line, Options& options) {
  auto& session = options.session;
  line.value("-k,--key-file", options.key_file);
  line.value_is(":file");
  line.value("--as", [&](const Text& text) { return store(end_name_value("--as", text), session.own_name); });
  line.value("--peer", [&](const Text& text) -> Status {
    if (const auto key = PublicKey::parse(text)) {
      options.peer_key = *key;
      return {};
    }
    if (text.starts_with(PublicKey::kPrefix)) return store(PublicKey::parse(text), options.peer_key);  // what is wrong
    return store(end_name_value("--peer", text), session.expected_peer);
  });
  line.value("--peers", options.peers_file);
  line.value_is(":file");
  line.flag("--trust-first", options.trust_on_first_use);
  line.check([&]() -> Status {
    if (!session.own_name.empty() && session.own_name == session.expected_peer)
      return misplaced("--as and --peer", "allowed: two names, as the two ends are not the same");
    for (const char* name : {"--peers", "--trust-first"})
      if (line.has(name) && session.protection == Protection::clear)
        return misplaced(fmt::format("{} and --protect clear", name), "nobody proves a key at clear");
    return {};
  });
}

void add_protection_options(CommandLine& line, Options& options) {
  auto& session = options.session;
  line.choice("--protect", core::parse_protection,
              {Protection::private_, Protection::safe, Protection::auth, Protection::clear}, session.protection);
  line.choice("--cipher", core::parse_cipher, {Cipher::aes_256_gcm, Cipher::aes_128_gcm, Cipher::chacha20_poly1305},
              session.cipher);
  // A named cipher that is not used would not be what the user asked for.
  line.check([&]() -> Status {
    if (session.cipher && session.protection < Protection::safe)
      return misplaced(fmt::format("--cipher \"{}\"", to_string(*session.cipher)),
                       fmt::format("nothing is enciphered at --protect {}", to_string(session.protection)));
    return {};
  });
}

void add_session_options(CommandLine& line, Options& options) {
  options.session.commands_of = commands_of;
  auto& session = options.session;
  line.value("--block", [&](const Text& text) {
    return store(size_value("--block", text, kMinBlockBytes, kMaxBlockBytes), session.block_bytes);
  });
  line.value("--lanes",
             [&](const Text& text) { return store(number_value("--lanes", text, 1, kMaxLanes), session.lanes); });
  line.value("--flows", [&](const Text& text) {
    if (text == "auto") {
      session.flows.reset();
      return Status();
    }
    return store(number_value("--flows", text, 1, kMaxFlows), session.flows);
  });
  line.value("--threads", [&](const Text& text) {
    return store(number_value("--threads", text, 1, core::kMaxThreads), session.threads);
  });
}

void add_transport_options(CommandLine& line, Options& options) {
  auto& transport = options.transport;
  line.choice("--transport", core::parse_transport,
              {TransportKind::automatic, TransportKind::native, TransportKind::libudt, TransportKind::tcp},
              transport.kind);
  line.flag("--no-tcp");
  line.value("--proxy", [&](const Text& text) -> Status {
    options.proxy = text;
    return {};
  });
  line.choice("--congestion", core::parse_congestion, {CongestionKind::bbr, CongestionKind::udt, CongestionKind::fixed},
              transport.congestion);
  line.choice("--offload", {"on", "off"}, [&](const Text& text) -> Status {
    transport.offload = text == "on";
    return {};
  });
  line.value("--memory", [&](const Text& text) {
    return store(size_value("--memory", text, kMinMemoryBytes, kMaxMemoryBytes), transport.memory_bytes);
  });
  line.value("--idle-timeout", [&](const Text& text) {
    return store(duration_value("--idle-timeout", text, kMinIdleTimeout), options.session.idle_timeout);
  });
  line.check([&]() -> Status {
    transport.idle_timeout = options.session.idle_timeout + kTransportOutlasts;
    transport.known_paths = users_path_cache();
    if (line.has("--no-tcp")) {
      if (transport.kind == TransportKind::tcp)
        return misplaced("--no-tcp and --transport tcp", "allowed: one of them");
      if (transport.kind == TransportKind::automatic) transport.kind = TransportKind::native;
    }
    UDTCAT_CHECK(store(choose_proxy(options.proxy, proxy_environment()), transport.proxy));
    const bool has_tcp = transport.kind == TransportKind::tcp || transport.kind == TransportKind::automatic;
    if (line.has("--proxy") && !has_tcp) return misplaced("--proxy", "allowed with TCP only, which goes by it");
    const bool is_native = transport.kind == TransportKind::native || transport.kind == TransportKind::automatic;
    for (const char* native : {"--congestion", "--memory", "--offload"})
      if (!is_native && line.has(native))
        return misplaced(native, fmt::format("allowed with --transport native only; {} has its own way, which cannot "
                                             "be chosen",
                                             to_string(transport.kind)));
    if (transport.congestion == CongestionKind::fixed && transport.rate.unlimited())
      return misplaced("--congestion \"fixed\"", "needs --rate, the speed at which it sends whatever happens");
    return {};
  });
}

namespace {

/// ADDR[,ADDR]...
Result<std::vector<Endpoint>> addresses_value(const char* name, const Text& text) {
  std::vector<Endpoint> all;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const Text word = text.substr(begin, end - begin);
    begin = end + 1;
    boost::system::error_code is_no_address;
    boost::asio::ip::make_address(word, is_no_address);
    const auto address = is_no_address ? std::nullopt : std::optional(resolve({word, 0}, AddressFamily::any));
    if (!address || !*address || (*address)->front().is_wildcard())
      return bad_value(name, word, "addresses of this host with commas between them, as in 192.0.2.1,198.51.100.1");
    if (std::ranges::find(all, (*address)->front()) != all.end())
      return bad_value(name, text, fmt::format("each address once; {} is there twice", word));
    all.push_back((*address)->front());
  }
  if (all.size() > kMaxFlows)
    return bad_value(name, text, fmt::format("{} addresses, the most flows that a session has", kMaxFlows));
  return all;
}

}  // namespace

void add_bind_option(CommandLine& line, Options& options) {
  line.value("--bind", [&](const Text& text) {
    return store(addresses_value("--bind", text), options.transport.local_addresses);
  });
  line.check([&]() -> Status {
    if (!line.has("--bind")) return {};
    if (line.has("-l"))
      return misplaced("--bind and -l",
                       "it is for the end that connects; a listener's address stands before its port, as in -l "
                       "192.0.2.1:9000");
    if (options.transport.kind == TransportKind::libudt)
      return misplaced("--bind and --transport libudt", "allowed: auto, native or tcp; libudt lets the system choose");
    for (const char* meeting : {"--via", "--ticket", "--new-ticket"})
      if (line.has(meeting))
        return misplaced(fmt::format("--bind and {}", meeting),
                         "ends that meet try all addresses of both hosts; allowed: with HOST PORT");
    if (std::ranges::any_of(line.operands(), Ticket::is_meant))
      return misplaced("--bind and a ticket",
                       "ends that meet try all addresses of both hosts; allowed: with HOST PORT");
    return {};
  });
}

void add_limit_options(CommandLine& line, Options& options) {
  constexpr std::size_t kMost = 1'000'000;  // guess: more than any host has
  line.value("--max-peers", [&](const Text& text) {
    return store(number_value("--max-peers", text, 1, kMost), options.limits.peers);
  });
  line.value("--max-sessions", [&](const Text& text) {
    return store(number_value("--max-sessions", text, 1, kMost), options.limits.sessions_per_peer);
  });
  line.value("--max-streams", [&](const Text& text) {
    return store(number_value("--max-streams", text, 1, kMaxStreams), options.session.streams);
  });
  line.value("--total-memory", [&](const Text& text) -> Status {
    UDTCAT_TRY(const std::size_t bytes, size_value("--total-memory", text, kMinMemoryBytes, kMaxMemoryBytes));
    options.limits.memory_bytes = bytes;
    return {};
  });
}

void add_rate_option(CommandLine& line, Options& options) {
  line.value("--rate", [&](const Text& text) -> Status {
    const auto rate = core::parse_rate(text);
    if (!rate || rate->unlimited())
      return bad_value("--rate", text, "bits per second above 0, with k, M or G, as in 400M");
    options.transport.rate = *rate;
    return {};
  });
}

void add_family_options(CommandLine& line, Options& options) {
  line.flag("-4");
  line.flag("-6");
  line.exclusive("-4", "-6");
  line.check([&]() -> Status {
    if (line.has("-4")) options.family = AddressFamily::ipv4;
    if (line.has("-6")) options.family = AddressFamily::ipv6;
    return {};
  });
}

void add_connect_timeout_option(CommandLine& line, Options& options) {
  line.value("--connect-timeout", [&](const Text& text) -> Status {
    UDTCAT_CHECK(store(duration_value("--connect-timeout", text, milliseconds(1)), options.connect_timeout));
    options.closed_port_patience = options.connect_timeout;
    return {};
  });
}

namespace {

constexpr std::uint16_t kMeetingPort = 9000;  // spec: docs/spec/meet.md §1
constexpr std::uint16_t kStunPort = 3478;     // spec: RFC 8489 §18.6

/// HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT; an IPv6 address alone is a HOST.
Result<HostPort> host_maybe_port(const char* name, const Text& text, std::uint16_t port) {
  const bool has_port = text.ends_with(']') ? false : text.starts_with('[') || std::ranges::count(text, ':') == 1;
  if (has_port) return remote_address_value(name, text);
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  const Text host = bracketed ? text.substr(1, text.size() - 2) : text;
  if (host.empty() || host.find_first_of("{}") != Text::npos) return bad_value(name, text, "HOST or HOST:PORT");
  return HostPort{host, port};
}

}  // namespace

void add_via_options(CommandLine& line, Options& options) {
  line.value("--via", [&](const Text& text) -> Status {
    UDTCAT_TRY(options.via, host_maybe_port("--via", text, kMeetingPort));
    return {};
  });
  line.value_is(":host");
  line.value("--via-key", options.via_key_file);
  line.value_is(":file");
  line.values("--stun", [&](const Text& text) -> Status {
    UDTCAT_TRY(HostPort server, host_maybe_port("--stun", text, kStunPort));
    options.stun.push_back(std::move(server));
    return {};
  });
  line.value_is(":host");
  line.check([&]() -> Status {
    const bool has_ticket = std::ranges::any_of(line.operands(), Ticket::is_meant) || options.ticket.file;
    for (const char* name : {"--via-key", "--stun"})
      if (line.has(name) && !options.via && !has_ticket) return misplaced(name, "allowed with --via only");
    if (!options.via && !has_ticket) return {};
    // The other end would make a ticket of its own, rather than ask for the key.
    constexpr std::string_view kAddress = "{host} {port}";
    if (const auto at = options.counterpart.find(kAddress); options.via && at != Text::npos)
      options.counterpart.replace(at, kAddress.size(), fmt::format("--via {} -k /dev/tty", to_string(*options.via)));
    if (options.session.protection == Protection::clear)
      return misplaced("--via and --protect clear", "the ends find each other by a key");
    if (options.transport.kind == TransportKind::libudt)
      return misplaced("--via and --transport libudt", "allowed: the native one");
    return {};
  });
}

void add_accept_timeout_option(CommandLine& line, Options& options) {
  line.value("--accept-timeout", [&](const Text& text) {
    return store(duration_value("--accept-timeout", text, milliseconds(1)), options.accept_timeout);
  });
}

namespace {

constexpr milliseconds kLeastStatsInterval{100};  // guess: the statistics of ten thousand sessions cost less

/// "json", "json:10s", "none".
Status read_stats(const Text& text, Options& options) {
  constexpr std::string_view kEach = "json:";
  const bool each = text.starts_with(kEach);
  if (text != "json" && text != "none" && !each)
    return bad_value("--stats", text, "json, json:INTERVAL as in json:10s, none");
  options.stats_json = text != "none";
  options.stats_interval.reset();
  if (!each) return {};
  return store(duration_value("--stats json:", text.substr(kEach.size()), kLeastStatsInterval), options.stats_interval);
}

}  // namespace

void add_log_options(CommandLine& line, Options& options) {
  line.count("-v,--verbose", options.verbosity);
  line.flag("-q,--quiet");
  line.exclusive("-v", "-q");
  line.value("--stats", [&](const Text& text) { return read_stats(text, options); });
  line.value("--name", [&](const Text& text) { return store(service_name_value("--name", text), options.name); });
  line.value("--metrics", [&](const Text& text) -> Status {
    UDTCAT_TRY(HostPort at, local_address_value("--metrics", text));
    // Figures are for this host unless the user says otherwise.
    if (at.host.empty() && !text.starts_with('*')) at.host = "127.0.0.1";
    options.metrics = std::move(at);
    return {};
  });
  line.value("--status-group", [&](const Text& text) -> Status {
    if (text.empty()) return bad_value("--status-group", text, "the name or the number of a group of this host");
    options.status_group = text;
    return {};
  });
  line.choice("--log-format", parse_log_format, {LogFormat::text, LogFormat::json}, options.log_format);
  line.check([&]() -> Status {
    options.command_line = without_password(line.as_typed(), options.proxy);
    if (line.has("-q")) options.verbosity = -1;
    if (line.has("--progress") && options.log_format == LogFormat::json)
      return misplaced("--progress and --log-format json", "allowed: one of them");
    return {};
  });
}

void add_progress_options(CommandLine& line, Options& options) {
  line.flag("--progress");
  line.flag("--no-progress");
  line.exclusive("--progress", "--no-progress");
  line.check([&]() -> Status {
    if (line.has("--progress")) options.progress = true;
    if (line.has("--no-progress")) options.progress = false;
    return {};
  });
}

}  // namespace udtcat::tool
