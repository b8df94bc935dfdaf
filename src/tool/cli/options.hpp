// SPDX-License-Identifier: Apache-2.0
/// Options of commands that talk to a peer, in groups, of which each command takes those that act in it.
/// No input or output here.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/key_pair.hpp>
#include <udtcat/options.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "tool/cli/command_line.hpp"
#include "tool/cli/log_line.hpp"
#include "tool/cli/ticket_options.hpp"

namespace udtcat::tool {

/// The least that leaves room for two lost pings in a row; see docs/spec/stream.md §5.
inline constexpr std::chrono::milliseconds kMinIdleTimeout{3'000};  // guess: three pings

/// How much longer the transport's timeout is than the session's, whose error says more.
inline constexpr std::chrono::milliseconds kTransportOutlasts{10'000};  // guess

inline constexpr std::uint64_t kMaxMemoryBytes = 64 * kGiB;  // guess: 100 Gbit/s at 5 s

/// Every command's own options derive from this.
struct Options {
  bool help = false;           ///< only the help is wanted
  HostPort peer{};             ///< of a connector: the listener
  HostPort local{};            ///< of a listener: where it waits
  bool listens = false;        ///< a listener
  bool shows_new_key = false;  ///< of a listener without a key: it makes one and shows it, instead of asking for one
  /// The command for the other host, with {host}, {port}, {names} and {options} (names included) in it, or {ticket}.
  std::string counterpart = "udtcat {host} {port}{options}";
  AddressFamily family = AddressFamily::any;
  std::optional<HostPort> via{};              ///< the meeting place by which the ends find each other
  std::optional<std::string> via_key_file{};  ///< its key; none: it serves everybody
  std::vector<HostPort> stun{};               ///< beside it
  std::string proxy{};                        ///< --proxy as it was written, which may have a password in it
  TicketOptions ticket{};
  std::optional<std::string> key_file{};
  std::optional<std::string> peers_file{};  ///< the peers that a listener admits, the listeners that a connector knows
  std::optional<PublicKey> peer_key{};      ///< of a connector: the key that the listener has to have
  bool trust_on_first_use = false;          ///< of a connector: an unknown listener is written down
  SessionOptions session{};
  TransportOptions transport{};
  ListenLimits limits{};
  std::vector<FurtherApplication> further{};  ///< of a listener
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds closed_port_patience{2'000};      ///< --connect-timeout counts for a closed port too
  std::optional<std::chrono::milliseconds> accept_timeout{};  ///< none: for ever
  LogFormat log_format = LogFormat::text;
  int verbosity = 0;               ///< -1: only errors; 1 info, 2 debug, 3 trace
  std::optional<bool> progress{};  ///< none: where a person is watching
  bool is_chat = true;             ///< at a terminal stdin and stdout are a person's
  bool stats_json = false;
  std::optional<std::chrono::milliseconds> stats_interval{};  ///< none: at the end only
  bool why = false;                                           ///< --why: say at the end what limited the transfer
  bool check = false;                                         ///< --check: only say what would be done
  std::string command_line{};                                 ///< as typed, for `udtcat status`
  std::string name{};                                         ///< --name: of the service; empty: it has none
  std::optional<HostPort> metrics{};                          ///< where metrics are served by HTTP; none: nowhere
  std::string status_group{};  ///< its members may ask for the status as well; empty: this user and root alone
};

// Each group stores its values in `options`, which outlives the line.
void add_key_options(CommandLine& line, Options& options);         ///< -k, --as, --peer, --peers, --trust-first
void add_protection_options(CommandLine& line, Options& options);  ///< --protect, --cipher
void add_session_options(CommandLine& line, Options& options);     ///< --block, --lanes, --threads, --flows
/// --transport, --no-tcp, --proxy, --congestion, --memory, --idle-timeout
void add_transport_options(CommandLine& line, Options& options);
/// --max-peers, --max-sessions, --max-streams, --total-memory, of listeners
void add_limit_options(CommandLine& line, Options& options);
/// --bind, of commands that dial; behind those of the transport
void add_bind_option(CommandLine& line, Options& options);
void add_rate_option(CommandLine& line, Options& options);
void add_family_options(CommandLine& line, Options& options);  ///< -4, -6
void add_connect_timeout_option(CommandLine& line, Options& options);
/// --via, --via-key, --stun; behind the options of keys, protection and transport
void add_via_options(CommandLine& line, Options& options);
void add_accept_timeout_option(CommandLine& line, Options& options);
/// -v, -q, --stats, --name, --metrics, --status-group, --log-format
void add_log_options(CommandLine& line, Options& options);
void add_progress_options(CommandLine& line, Options& options);  ///< --progress, --no-progress

}  // namespace udtcat::tool
