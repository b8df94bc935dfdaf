// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bench/bench_message.hpp"
#include "lib/core/try.hpp"
#include "ssh/ssh_options.hpp"
#include "tool/cli/applications.hpp"

namespace udtcat::bench {

namespace {

using tool::CommandLine;
using tool::misplaced;
using tool::Words;

constexpr const char* kBench = R"(udtcat bench: measures a path both ways, and the two ends of it

  udtcat bench HOST PORT                  the other end: udtcat -l PORT, which goes on waiting for its pipe
  udtcat bench --via PLACE                likewise udtcat -l --via PLACE
  udtcat bench [USER@]HOST                the other end: a udtcat that ssh starts there, on a UDP port of --port

Prints, each way: rate, loss, reordering, the round trip empty and loaded, the processors and the sockets' drops of
both ends; the packets that the path carries; and what limits it.

      --seconds N            each way, 1 to 60 (5)
      --json                 one JSON object
  -k, --key-file, --as, --peer, --peers, --trust-first, -4, -6
                             of a listener; ssh proves by itself who both ends are
      --port N | N-M         by ssh: UDP ports of the far side (9000-9100)
      --udp-host HOST        by ssh: try this address as well
      --push                 by ssh: where there is no udtcat, copy this one to ~/.cache/udtcat there, and use it
      --remote-udtcat PATH   by ssh: where udtcat is there
      --ssh 'PROGRAM ARGS'   by ssh: what to run as ssh, as in 'ssh -p 2222'
      --connect-timeout T    how long to try (10s; by ssh 3s)
      --via, --via-key, --stun, --rate, --bind, --transport, --no-tcp, --proxy, --congestion, --offload, --memory,
      --protect, --cipher, --block, --lanes, --threads, --flows, --idle-timeout, --stats, --name, --metrics,
      --status-group, --log-format, --progress, --no-progress, --check, -v, --verbose, -q, --quiet   see udtcat --help

Exit status: 0 where both ways were measured; else as udtcat's. What was measured until then is printed.
)";

Status read_destination(const CommandLine& line, BenchOptions& options) {
  const Words& words = line.operands();
  if (std::ranges::any_of(words, Ticket::is_meant))
    return misplaced("bench and a ticket", "a ticket is for one transfer; -k and --via measure the way to a listener");
  if (options.via) {
    options.peer = *options.via;  // for messages
    return words.empty() ? Status{} : misplaced("--via and a host", "allowed: bench --via HOST[:PORT] alone");
  }
  if (words.size() == 2) return tool::store(tool::host_and_port(words[0], words[1]), options.peer);
  if (words.size() != 1 || words.front().empty())
    return misplaced(fmt::format("bench and {} arguments", words.size()), "allowed: HOST PORT, or [USER@]HOST by ssh");
  if (parse_peer(words.front()))
    return tool::store(tool::remote_address_value("HOST:PORT", words.front()), options.peer);
  UDTCAT_CHECK(ssh::check_destination(words.front()));
  options.by_ssh = true;
  options.ssh.destination = words.front();
  options.host = ssh::host_of(words.front());
  options.peer.host = options.host;
  return {};
}

/// Refuses options that would have no effect.
Status check_places(const CommandLine& line, BenchOptions& options) {
  for (const char* name : {"-k", "--as", "--peer", "--peers", "--trust-first"})
    if (options.by_ssh && line.has(name))
      return misplaced(name, "allowed with HOST PORT only; by ssh, ssh proves who both ends are");
  for (const char* name : {"--port", "--udp-host", "--push", "--remote-udtcat", "--ssh"})
    if (!options.by_ssh && line.has(name))
      return misplaced(name, "allowed without a PORT only, where ssh starts the far end");
  if (options.session.protection == Protection::clear)
    return misplaced("--protect \"clear\"", "a listener measures for those that prove the key");
  if (!options.by_ssh) return {};
  ssh::finish_ssh_dial_options(line, options);
  options.far_options.emplace_back("--bench");
  return {};
}

void add_options(CommandLine& line, BenchOptions& options) {
  line.value("--seconds", [&](const std::string& text) {
    return tool::store(tool::number_value("--seconds", text, 1, static_cast<std::size_t>(kMaxBenchTime.count()))
                           .map([](std::size_t seconds) { return std::chrono::seconds(seconds); }),
                       options.settings.each_way);
  });
  line.flag("--json", options.settings.json);
  options.tries_udp = true;
  ssh::add_ssh_dial_options(line, options);
  ssh::add_push_progress_options(line, options);
  add_key_options(line, options);
  add_protection_options(line, options);
  add_session_options(line, options);
  add_transport_options(line, options);
  add_bind_option(line, options);
  add_rate_option(line, options);
  add_family_options(line, options);
  add_connect_timeout_option(line, options);
  add_via_options(line, options);
  add_log_options(line, options);
  line.flag("--check", options.check);
  line.check([&] { return read_destination(line, options); });
  line.check([&] { return check_places(line, options); });
}

}  // namespace

Result<BenchOptions> parse_bench_options(const Words& arguments) {
  BenchOptions options;
  options.session.application = tool::kBench;
  CommandLine line("udtcat bench");
  add_options(line, options);
  UDTCAT_CHECK(line.read(arguments));
  options.help = line.wants_help();
  return options;
}

tool::DeclaredOptions bench_options_declared() { return tool::declared_by(add_options); }

std::string bench_help_text() { return kBench; }

}  // namespace udtcat::bench
