// SPDX-License-Identifier: Apache-2.0
/// The state of a process at one moment: for `udtcat status`, for `--stats json:10s` and for a service manager. Data,
/// and no input or output.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <udtcat/connection.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "tool/cli/exit_status.hpp"
#include "tool/status/process_resources.hpp"
#include "tool/status/selected_pair_text.hpp"
#include "tool/status/stats_text.hpp"
#include "tool/status/why_text.hpp"

namespace udtcat::tool {

/// A peer that is connected. Only the statistics that JSON shows are read back.
struct PeerSnapshot {
  std::uint64_t number = 0;  ///< its own within the process
  std::string name;          ///< by its key pair; empty where it has none
  std::string address;
  std::chrono::nanoseconds age{0};  ///< since it connected
  ConnectionStats stats;
  BitRate rate;                                     ///< both ways together, of late
  DiagnosisText limited_by{};                       ///< of late; empty: idle
  std::optional<SelectedPairText> selected_pair{};  ///< that of the statistics
};

/// Peers that were turned away for one kind of reason.
struct RefusalSnapshot {
  std::string reason;
  std::uint64_t count = 0;
  std::chrono::nanoseconds ago{0};  ///< since the last
  std::string last{};               ///< the last one's address, and why, as logged
};

/// The peer that a connector tries to reach.
struct DialingSnapshot {
  std::string peer;
  std::chrono::nanoseconds age{0};  ///< since it went, or since the start
  std::string reason{};             ///< of the last attempt's failure; empty: none has failed
};

/// Two ends that a meeting place has brought together.
struct PairSnapshot {
  std::string listener;   ///< its name and address
  std::string connector;  ///< likewise
  std::chrono::nanoseconds age{0};
  std::uint16_t port = 0;  ///< of UDP, that relays for them; 0: none does
  bool by_tcp = false;     ///< TCP connections of theirs are relayed
  std::uint64_t bytes_from_listener = 0;
  std::uint64_t bytes_from_connector = 0;
  std::uint64_t over_rate_bytes = 0;        ///< dropped by the limits of --pair-rate and --rate
  std::uint64_t undelivered_datagrams = 0;  ///< the other end was not there, or the system had no room
};

struct PlaceSnapshot {
  std::size_t registrations = 0;  ///< listeners that wait to be asked for
  std::vector<PairSnapshot> pairs;
  std::uint64_t over_rate_bytes = 0;  ///< as of a pair; of all, those that are over included
};

/// All sessions of the peers with one name, those that have gone included.
struct PeerTotal {
  std::string name{};  ///< by their key pairs; empty: those that have none; kOtherPeers: those beyond the bound
  std::uint64_t bytes_sent = 0;  ///< payload
  std::uint64_t bytes_received = 0;
  std::uint64_t handshakes = 0;  ///< sessions that were made
  std::uint64_t sessions = 0;    ///< that are connected
  std::uint64_t streams_open = 0;
  std::uint64_t packets_sent = 0;
  std::uint64_t packets_lost = 0;
  std::uint64_t packets_lost_queued = 0;  ///< of packets_lost, while the round trip showed a queue
  /// And while it showed none; what is neither was lost by transports that measure no queue. None: there were no others
  std::optional<std::uint64_t> packets_lost_path{};
};

/// Transfers that have ended, with the peers of one name and in one direction.
struct TransferTotal {
  std::string peer{};       ///< as in PeerTotal
  std::string direction{};  ///< of the bytes: kSent, kReceived, kBoth; empty: nothing was moved
  std::uint64_t complete = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;  ///< payload, of those that failed too
  std::uint64_t files = 0;
  std::optional<std::chrono::system_clock::time_point> last_complete{};
  std::optional<std::chrono::system_clock::time_point> last_failed{};
};

struct ProcessSnapshot {
  std::string service{};  ///< its name, by --name; empty: it has none
  std::string what;       ///< its command line
  pid_t pid = 0;
  std::chrono::nanoseconds age{0};      ///< since its start
  std::vector<std::string> listening;   ///< where peers come: "udp 0.0.0.0:9000"
  std::vector<std::string> forwarding;  ///< where local connections come: "tcp 127.0.0.1:5432"
  std::size_t clients_waiting = 0;      ///< for a session
  std::optional<DialingSnapshot> dialing;
  std::vector<PeerSnapshot> peers;  ///< those that are connected
  std::size_t peers_left_out = 0;   ///< connected, and not in `peers`
  ConnectionStats all;              ///< of all peers together, those that have left included
  BitRate rate;                     ///< likewise, both ways together, of late
  std::vector<RefusalSnapshot> refused;
  std::optional<PlaceSnapshot> place{};  ///< of a meeting place
  std::chrono::microseconds cpu{0};
  ProcessResources resources{};
  std::uint64_t dropped_datagrams = 0;     ///< for which a receive buffer of this process had no room
  std::optional<std::uint64_t> redials{};  ///< dials after the first; none: it dials nobody again
  std::vector<PeerTotal> peer_totals{};    ///< by name
  std::vector<TransferTotal> transfers{};  ///< by peer and direction
};

/// The processor time of this process so far: of all threads, user and system.
[[nodiscard]] std::chrono::microseconds process_cpu_time();

/// A peer without a name, now.
[[nodiscard]] PeerSnapshot snapshot_of(std::uint64_t number, const Endpoint& address, const ConnectionStats& stats);

/// The peer of a connection, now.
/// AnyConnection   also that of a peer without a session, which has no name
template <typename AnyConnection>
[[nodiscard]] PeerSnapshot snapshot_of(std::uint64_t number, AnyConnection& connection) {
  PeerSnapshot snapshot = snapshot_of(number, connection.peer(), connection.stats());
  if constexpr (requires { connection.peer_identity(); })
    if (const auto identity = connection.peer_identity()) snapshot.name = identity->name;
  return snapshot;
}

/// Rates are what has moved from one snapshot of a process to the next, and diagnoses are of the time between.
/// Threads: unsynchronised.
class Rates {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Sets the rates and diagnoses: since the snapshot before, of a peer that is new since it connected.
  void set(ProcessSnapshot& snapshot, TimePoint now);

 private:
  struct Before {
    std::uint64_t bytes;
    BothEndsStats ends;
  };
  std::map<std::uint64_t, Before> peers_;  // by their numbers
  std::uint64_t all_bytes_ = 0;
  TimePoint at_{};
};

inline constexpr std::size_t kMaxShownPeers = 1000;                // guess: more than anybody reads; 500 kB
inline constexpr std::size_t kMaxSnapshotBytes = 4 * 1024 * 1024;  // guess: twice that, and totals of as many

/// One line, an object, at most kMaxSnapshotBytes; of more peers than kMaxShownPeers the fastest.
/// Docs: udtcat-status(1), "JSON".
[[nodiscard]] std::string to_json(const ProcessSnapshot& snapshot);

/// Total: any text gives a snapshot or an error. Texts in it are made printable.
/// errors: Errc::protocol_violated
[[nodiscard]] Result<ProcessSnapshot> parse_snapshot(std::string_view json);

/// Several lines for a person, as of `udtcat status`.
[[nodiscard]] std::string to_text(const ProcessSnapshot& snapshot);

/// "2 peers, 1.20 Gbit/s": for a service manager.
[[nodiscard]] std::string to_sentence(const ProcessSnapshot& snapshot);

/// A run at its end.
struct RunReport {
  Sample end;
  std::chrono::microseconds cpu{0};            ///< of this process, all threads, user and system
  std::optional<TransportKind> transport{};    ///< none: no peer was met, and the user left it open
  std::optional<CongestionKind> congestion{};  ///< none: it is the system's
  Protection protection = Protection::private_;
  std::string peer;       ///< empty where there was none
  std::string peer_name;  ///< by its key pair; empty where it has none
  ExitStatus exit_status = ExitStatus::success;
  std::string exit_reason;  ///< "complete", or the error's text
  DiagnosisText limited_by;
};

/// One line, an object. Docs: udtcat(1), "--stats".
[[nodiscard]] std::string to_json(const RunReport& report);

}  // namespace udtcat::tool
