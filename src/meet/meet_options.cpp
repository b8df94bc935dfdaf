// SPDX-License-Identifier: Apache-2.0
#include "meet/meet_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/meeting/message.hpp"
#include "meet/place.hpp"
#include "tool/cli/applications.hpp"

namespace udtcat::meet {

namespace {

using tool::CommandLine;
using tool::misplaced;

constexpr const char* kMeetHelp = R"(udtcat meet: a place where two ends meet that cannot reach each other

  udtcat meet -l [ADDR:]PORT -k FILE [--peers FILE]       for those that prove a key
  udtcat meet -l [ADDR:]PORT --public                     for everybody

Both ends name it: udtcat -l --via HOST, and udtcat --via HOST, with the same key. It tells each where the other is, and
relays their datagrams, sealed, until they reach each other directly. It knows no key of theirs.

  -l, --listen               wait at [ADDR:]PORT; the relays have the ports behind it
  -k, --key-file FILE        a key: a shared one for all, or a key pair, with --peers
      --peers FILE           the peers that may come, by their key pairs
      --public               everybody may come; the limits are per host
      --pairs N              most pairs at a time, a UDP port each (100)
      --registrations N      most listeners that wait at a time (1024)
      --pair-rate RATE       most that it relays for one pair, both ways together (no limit)
      --rate RATE            most that it relays for all (no limit)
      --idle-timeout T       a peer is lost after so much silence (40s)
  -4, -6, --stats, --name, --metrics, --status-group, --log-format, --progress, --no-progress, --check, -v, --verbose,
  -q, --quiet
                             see udtcat --help

udtcat status shows who meets whom, and how much is relayed. STUN's Binding is answered at PORT, for anybody.
)";

constexpr std::size_t kMaxPairs = 10'000;             // guess: more than one thread relays for
constexpr std::size_t kMaxRegistrations = 1'000'000;  // guess: as --max-peers
constexpr std::size_t kMaxPort = 65'535;              // spec: RFC 768

void add_rate(CommandLine& line, const char* name, BitRate& into) {
  line.value(name, [name, &into](const std::string& text) -> Status {
    const auto rate = core::parse_rate(text);
    if (!rate || rate->unlimited())
      return tool::bad_value(name, text, "bits per second above 0, with k, M or G, as in 400M");
    into = *rate;
    return {};
  });
}

Status read_place(const CommandLine& line, MeetOptions& options) {
  const auto& words = line.operands();
  if (!options.listens || words.size() != 1)
    return misplaced(fmt::format("meet \"{}\"", fmt::join(words, " ")),
                     "is written udtcat meet -l [ADDR:]PORT, with -k FILE, --peers FILE or --public");
  UDTCAT_CHECK(tool::store(tool::local_address_value("-l", words.front()), options.local));
  if (options.local.port + options.place.pairs > kMaxPort)
    return misplaced(fmt::format("--pairs {}", options.place.pairs),
                     fmt::format("the relays' ports follow port {}, and {} is the last", options.local.port, kMaxPort));
  return {};
}

Status check_keys(const CommandLine& line) {
  for (const char* name : {"-k", "--peers"})
    if (line.has("--public") && line.has(name))
      return misplaced(fmt::format("{} and --public", name), "with --public everybody may come, and no key says who");
  return {};
}

/// Of each session; and as many sessions as the place has use for.
void size_sessions(MeetOptions& options) {
  make_small(options.session, options.transport);
  options.transport.idle_timeout = options.session.idle_timeout + tool::kTransportOutlasts;
  options.limits.peers = options.place.registrations + 4 * options.place.pairs;
  options.limits.sessions_per_peer = options.place.registrations_of_one + options.place.pairs_of_one;
}

void add_options(CommandLine& line, MeetOptions& options) {
  line.flag("-l,--listen", options.listens);
  line.value("-k,--key-file", options.key_file);
  line.value_is(":file");
  line.value("--peers", options.peers_file);
  line.value_is(":file");
  line.flag("--public", options.serves_everybody);
  line.value("--pairs", [&](const std::string& text) {
    return tool::store(tool::number_value("--pairs", text, 1, kMaxPairs), options.place.pairs);
  });
  line.value("--registrations", [&](const std::string& text) {
    return tool::store(tool::number_value("--registrations", text, 1, kMaxRegistrations), options.place.registrations);
  });
  add_rate(line, "--pair-rate", options.pair_rate);
  add_rate(line, "--rate", options.rate);
  line.value("--idle-timeout", [&](const std::string& text) {
    return tool::store(tool::duration_value("--idle-timeout", text, tool::kMinIdleTimeout),
                       options.session.idle_timeout);
  });
  add_family_options(line, options);
  add_log_options(line, options);
  add_progress_options(line, options);
  line.flag("--check", options.check);
  line.check([&] { return read_place(line, options); });
  line.check([&] { return check_keys(line); });
  line.check([&]() -> Status {
    size_sessions(options);
    return {};
  });
}

}  // namespace

Result<MeetOptions> parse_meet_options(const tool::Words& arguments) {
  MeetOptions options;
  options.session.application = meeting::kApplication;
  options.session.commands_of = tool::commands_of;
  CommandLine line("udtcat meet");
  add_options(line, options);
  UDTCAT_CHECK(line.read(arguments));
  options.help = line.wants_help();
  return options;
}

tool::DeclaredOptions meet_options_declared() { return tool::declared_by(add_options); }

std::string meet_help_text() { return kMeetHelp; }

std::string firewall_text(std::uint16_t port, std::size_t pairs, bool with_tcp) {
  const std::string udp = fmt::format("UDP {}-{}", port, port + pairs);
  return with_tcp ? fmt::format("{} and TCP {}", udp, port) : udp;
}

}  // namespace udtcat::meet
