#include "tool/options.hpp"

#include <utility>

#include <fmt/format.h>

#include <udtcat/units.hpp>

#include "tool/option_values.hpp"
#include "tool/written_options.hpp"

namespace udtcat::tool {

namespace {

using Text = WrittenOptions::Text;
using std::chrono::milliseconds;

/// Takes a value over, or hands its error on.
template <typename Value, typename Target>
Status store(Result<Value> value, Target& target) {
  if (!value) return tl::unexpected(std::move(value.error()));
  target = std::move(*value);
  return {};
}

/// Every step in turn, until one fails.
template <typename... Steps>
Status each_of(const WrittenOptions& written, Options& options, Steps... steps) {
  Status status;
  static_cast<void>(((status = steps(written, options)).has_value() && ...));
  return status;
}

tl::unexpected<Error> misplaced(const std::string& option, std::string where) {
  return fail(Errc::bad_argument, option, std::move(where));
}

Status exclusive(bool one, const char* one_name, bool other, const char* other_name) {
  if (one && other) return misplaced(fmt::format("{} and {}", one_name, other_name), "allowed: one of the two");
  return {};
}

constexpr const char* kForms = "allowed: HOST PORT, -l [ADDR:]PORT, or keygen; see udtcat --help";

/// What makes up a session has no place where there is none.
Status check_plain(const WrittenOptions& written, Options& options) {
  options.plain = written.plain;
  if (!written.plain) return {};
  const std::pair<const char*, const Text&> of_a_session[] = {
      {"-k", written.key_file},   {"--protect", written.protect}, {"--cipher", written.cipher},
      {"--lanes", written.lanes}, {"--threads", written.threads}, {"--block", written.block},
      {"--flows", written.flows}, {"--as", written.as},           {"--peer", written.peer}};
  for (const auto& [name, text] : of_a_session)
    if (text)
      return misplaced(fmt::format("--plain and {}", name), "--plain has no session: no key, no cipher, no blocks");
  const std::pair<const char*, const Text&> other_mouths[] = {
      {"--to", written.to}, {"--from", written.from}, {"--exec", written.exec}};
  for (const auto& [name, text] : other_mouths)
    if (text)
      return misplaced(fmt::format("--plain and {}", name), "--plain has one stream, which is for stdin and stdout");
  options.session.protection = Protection::clear;
  return {};
}

Status read_operands(const WrittenOptions& written, Options& options) {
  const auto& words = written.operands;
  const std::string shown = fmt::format("arguments \"{}\"", fmt::join(words, " "));
  if (written.listen) {
    if (words.size() != 1)
      return fail(Errc::bad_argument, "-l", "needs one argument, [ADDR:]PORT, as in 9000 or 192.0.2.1:9000");
    options.command = written.to ? Command::serve : Command::listen;
    if (written.to) options.session.purpose = Purpose::forward;
    return store(local_address_value("-l", words.front()), options.local);
  }
  if (words.size() == 1 && words.front() == "keygen") {
    options.command = Command::keygen;
    return {};
  }
  if (words.size() != 2) return fail(Errc::bad_argument, words.empty() ? "no arguments" : shown, kForms);
  options.command = written.from ? Command::forward : Command::connect;
  if (written.from) options.session.purpose = Purpose::forward;
  return store(host_and_port(words[0], words[1]), options.peer);
}

/// An option in a place where it would do nothing is a misunderstanding, which had better be cleared up now.
Status check_places(const WrittenOptions& written, Options& options) {
  const bool tcp = written.to || written.from;
  if (written.to && !written.listen) return misplaced("--to", "allowed with -l only; with HOST PORT it is --from");
  if (written.from && written.listen) return misplaced("--from", "allowed with HOST PORT only; with -l it is --to");
  if (written.connect_timeout && written.listen)
    return misplaced("--connect-timeout", "allowed with HOST PORT only; with -l it is --accept-timeout");
  if (written.accept_timeout && options.command != Command::listen)
    return misplaced("--accept-timeout", "allowed with -l and without --to only");
  if (tcp && written.exec)
    return misplaced(fmt::format("--exec and {}", written.to ? "--to" : "--from"), "allowed: one of the two");
  if (tcp && (written.send_only || written.recv_only))
    return misplaced(written.send_only ? "--send-only" : "--recv-only",
                     "allowed for stdin and stdout only, not with --to or --from");
  return {};
}

Status check_exclusions(const WrittenOptions& written, Options&) {
  if (auto status = exclusive(written.send_only, "--send-only", written.recv_only, "--recv-only"); !status)
    return status;
  if (written.recv_only && written.rate)
    return misplaced("--rate and --recv-only", "it limits what is sent: give it to the end that sends");
  if (auto status = exclusive(written.ipv4, "-4", written.ipv6, "-6"); !status) return status;
  if (auto status = exclusive(written.verbose > 0, "-v", written.quiet, "-q"); !status) return status;
  return exclusive(written.progress, "--progress", written.no_progress, "--no-progress");
}

Status read_addresses(const WrittenOptions& written, Options& options) {
  if (written.to) return store(remote_address_value("--to", *written.to), options.service);
  if (!written.from) return {};
  if (auto status = store(local_address_value("--from", *written.from), options.front); !status) return status;
  // As with ssh -L: the whole world is let in only where the user says so.
  const bool everywhere = written.from->starts_with("*");
  if (options.front.host.empty() && !everywhere) options.front.host = written.ipv6 ? "::1" : "127.0.0.1";
  return {};
}

Status read_exec(const WrittenOptions& written, Options& options) {
  if (written.exec && written.exec->empty())
    return bad_value("--exec", "", "a command for sh -c, as in 'zfs recv pool/data'");
  options.exec = written.exec;
  return {};
}

Status read_protection(const WrittenOptions& written, Options& options) {
  auto& session = options.session;
  options.key_file = written.key_file;
  if (written.protect) {
    const auto all = {Protection::private_, Protection::safe, Protection::auth, Protection::clear};
    if (auto status =
            store(name_value<Protection>("--protect", *written.protect, parse_protection, all), session.protection);
        !status)
      return status;
  }
  if (!written.cipher) return {};
  const auto all = {Cipher::aes_256_gcm, Cipher::aes_128_gcm, Cipher::chacha20_poly1305};
  if (auto status = store(name_value<Cipher>("--cipher", *written.cipher, parse_cipher, all), session.cipher); !status)
    return status;
  // Who names a cipher wants one: what would run without is not what was asked for.
  if (session.protection < Protection::safe)
    return misplaced(fmt::format("--cipher \"{}\"", *written.cipher),
                     fmt::format("nothing is enciphered at --protect {}", to_string(session.protection)));
  return {};
}

Status read_session(const WrittenOptions& written, Options& options) {
  auto& session = options.session;
  session.sends = !written.recv_only;
  session.receives = !written.send_only;
  if (written.block)
    if (auto status = store(size_value("--block", *written.block, kMinBlockBytes, kMaxBlockBytes), session.block_bytes);
        !status)
      return status;
  if (written.lanes)
    if (auto status = store(number_value("--lanes", *written.lanes, 1, kMaxLanes), session.lanes); !status)
      return status;
  if (written.flows)
    if (auto status = store(number_value("--flows", *written.flows, 1, kMaxFlows), session.flows); !status)
      return status;
  if (written.threads) return store(number_value("--threads", *written.threads, 1, kMaxThreads), session.threads);
  return {};
}

Status read_names(const WrittenOptions& written, Options& options) {
  auto& session = options.session;
  if (written.as)
    if (auto status = store(end_name_value("--as", *written.as), session.own_name); !status) return status;
  if (written.peer)
    if (auto status = store(end_name_value("--peer", *written.peer), session.expected_peer); !status) return status;
  if (written.as && written.as == written.peer)
    return misplaced("--as and --peer", "allowed: two names, as the two ends are not the same");
  return {};
}

Status read_transport(const WrittenOptions& written, Options& options) {
  auto& transport = options.transport;
  const auto kinds = {TransportKind::native, TransportKind::libudt};
  if (written.transport)
    if (auto status =
            store(name_value<TransportKind>("--transport", *written.transport, parse_transport, kinds), transport.kind);
        !status)
      return status;
  if (written.memory)
    if (auto status =
            store(size_value("--memory", *written.memory, kMinMemoryBytes, kMaxMemoryBytes), transport.memory_bytes);
        !status)
      return status;
  if (!written.rate) return {};
  const auto rate = parse_rate(*written.rate);
  if (!rate || rate->unlimited())
    return bad_value("--rate", *written.rate, "bits per second above 0, with k, M or G, as in 400M");
  transport.rate = *rate;
  return {};
}

Status read_congestion(const WrittenOptions& written, Options& options) {
  auto& transport = options.transport;
  const auto kinds = {CongestionKind::bbr, CongestionKind::udt, CongestionKind::cubic, CongestionKind::fixed};
  if (written.congestion)
    if (auto status = store(name_value<CongestionKind>("--congestion", *written.congestion, parse_congestion, kinds),
                            transport.congestion);
        !status)
      return status;
  if (transport.kind == TransportKind::libudt && (written.congestion || written.memory))
    return misplaced(written.congestion ? "--congestion" : "--memory",
                     "allowed with --transport native only; libudt has its own way, which cannot be chosen");
  if (transport.congestion == CongestionKind::fixed && transport.rate.unlimited())
    return misplaced("--congestion \"fixed\"", "needs --rate, the speed at which it sends whatever happens");
  return {};
}

Status read_times(const WrittenOptions& written, Options& options) {
  const auto read = [](const char* name, const Text& text, milliseconds least, auto& target) -> Status {
    return text ? store(duration_value(name, *text, least), target) : Status{};
  };
  if (auto status = read("--connect-timeout", written.connect_timeout, milliseconds(1), options.connect_timeout);
      !status)
    return status;
  if (written.connect_timeout) options.closed_port_patience = options.connect_timeout;
  if (auto status = read("--accept-timeout", written.accept_timeout, milliseconds(1), options.accept_timeout); !status)
    return status;
  auto& idle_timeout = options.session.idle_timeout;
  if (auto status = read("--idle-timeout", written.idle_timeout, kMinIdleTimeout, idle_timeout); !status) return status;
  options.transport.idle_timeout = options.plain ? idle_timeout : idle_timeout + kTransportOutlasts;
  return {};
}

Status read_output(const WrittenOptions& written, Options& options) {
  options.verbosity = written.quiet ? -1 : written.verbose;
  if (written.progress) options.progress = true;
  if (written.no_progress) options.progress = false;
  if (!written.stats) return {};
  if (*written.stats != "json" && *written.stats != "none") return bad_value("--stats", *written.stats, "json, none");
  options.stats_json = *written.stats == "json";
  return {};
}

}  // namespace

Status read_common_options(const WrittenOptions& written, Options& options) {
  if (written.ipv4) options.family = AddressFamily::ipv4;
  if (written.ipv6) options.family = AddressFamily::ipv6;
  return each_of(written, options, read_protection, read_session, read_names, read_transport, read_congestion,
                 read_times, read_output);
}

Result<Options> parse_options(int argc, const char* const* argv) {
  const auto written = split_command_line(argc, argv);
  if (!written) return tl::unexpected(written.error());
  Options options;
  options.command = written->version ? Command::version : Command::help;
  if (written->help || written->version) return options;
  const Status status = each_of(*written, options, check_exclusions, check_plain, read_operands, check_places,
                                read_addresses, read_exec, read_common_options);
  if (!status) return tl::unexpected(status.error());
  return options;
}

std::string to_string(const HostPort& target) {
  const bool literal_ipv6 = target.host.find(':') != std::string::npos;
  return literal_ipv6 ? fmt::format("[{}]:{}", target.host, target.port)
                      : fmt::format("{}:{}", target.host, target.port);
}

}  // namespace udtcat::tool
