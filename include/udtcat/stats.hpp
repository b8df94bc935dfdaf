// SPDX-License-Identifier: Apache-2.0
/// Statistics: of a transport, of a connection, and of its two ends, by which it is found why it is not faster.
/// Their tables, which sums, differences, reports and JSON visit, are in src/lib/core/stats_fields.hpp.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <udtcat/candidate.hpp>
#include <udtcat/options.hpp>
#include <udtcat/units.hpp>

namespace udtcat {

/// Counters of the transport, its flows together, since the connection was made.
struct TransportStats {
  TransportKind transport = TransportKind::native;  ///< that is in use
  std::optional<std::chrono::microseconds> rtt{};   ///< the transport's estimate; none before it has measured one
  std::uint64_t packets_sent = 0;                   ///< including those sent again
  std::uint64_t packets_lost = 0;                   ///< reported lost by the peer
  std::uint64_t packets_resent = 0;
  std::uint64_t packets_late = 0;   ///< of the peer's: they came behind one that was sent after them; 0 with libudt
  std::uint64_t bytes_arrived = 0;  ///< by the path: sealed, in any order; 0 with libudt
  std::uint64_t bytes_carried = 0;  ///< those and what has arrived at the peer; 0 with libudt
};

/// The reason why nothing leaves at a moment: the code that decides so charges the time to one of these (ADR-0042).
enum class StallReason : std::uint8_t {
  source,       ///< the local source has nothing more to send
  credit,       ///< the peer grants no more: its consumer has not taken what it was sent, or its window is small
  cipher,       ///< the blocks are with the cipher threads
  sending,      ///< none: packets leave as fast as this host takes them
  path,         ///< the congestion control: its window or its rate; or the peer is silent
  rate_cap,     ///< TransportOptions::rate
  memory,       ///< TransportOptions::memory_bytes: so much is sent and not acknowledged
  peer_window,  ///< the peer's transport has no room for more
};
inline constexpr std::size_t kStallReasons = 8;

/// The time that threads had a core, and that they waited for one.
struct ThreadTime {
  std::chrono::microseconds had{0};
  std::chrono::microseconds waited{0};
};

/// Packets by the spans of time in which they left, those left out in which a queue lost some: by these sums, whether
/// more are lost where more are sent.
struct LossByRate {
  std::uint64_t spans = 0;
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;
  std::uint64_t sent_squared = 0;  ///< the sum of each span's packets, squared
  std::uint64_t sent_by_lost = 0;  ///< and of its packets times those of them that were lost
};

/// One end's half: sums since the connection was made, and what is known at the moment. A REPORT frame tells it to the
/// other end.
struct EndStats {
  std::chrono::microseconds elapsed{0};
  std::uint64_t bytes_sent = 0;                                    ///< payload given to the session
  std::uint64_t bytes_received = 0;                                ///< payload that the consumers have taken
  std::array<std::chrono::microseconds, kStallReasons> stalled{};  ///< by StallReason; of several flows the mean
  std::chrono::microseconds consuming{0};                          ///< a consumer was being written to
  ThreadTime event_loop{};                                         ///< of the thread that moves packets and blocks
  ThreadTime cipher{};                                             ///< of the cipher threads together
  std::uint64_t cipher_threads = 0;                                ///< 0: the event loop seals and opens
  // ---- As the sender of its data, about the path
  BitRate path_rate{};                                   ///< found; zero: not yet
  std::optional<std::chrono::microseconds> least_rtt{};  ///< none: not measured yet
  std::chrono::microseconds rtt_sum{0};                  ///< of rtt_samples
  std::uint64_t rtt_samples = 0;
  std::uint64_t packets_sent = 0;  ///< also those sent again
  std::uint64_t packets_lost = 0;
  std::uint64_t queued_lost = 0;  ///< of packets_lost, found so while the smoothed round trip showed a queue
  std::uint64_t trains_off = 0;   ///< 1: datagrams go singly: the path loses trains, or offload is off
  LossByRate loss_by_rate{};
  LossByRate loss_behind_loss{};   ///< of the spans behind one that lost packets: a policer has nothing saved up there
  std::uint64_t path_changes = 0;  ///< the peer was found at another host, or behind a tunnel
  std::uint64_t packet_bytes = 0;  ///< IP bytes that the path is known to carry; 0: unknown
  // ---- Its sockets
  std::uint64_t socket_drops = 0;         ///< datagrams for which they had no room
  std::uint64_t socket_buffer_bytes = 0;  ///< for receiving, as the system granted it
  std::uint64_t socket_wanted_bytes = 0;  ///< and as it was asked for
  // ---- Its settings
  BitRate rate_cap{};              ///< zero: none
  std::uint64_t memory_bytes = 0;  ///< that it keeps each way; 0: unknown
};

/// Both ends' halves. See <udtcat/why_diagnosis.hpp>.
struct BothEndsStats {
  EndStats here{};
  std::optional<EndStats> there{};         ///< as the peer last reported; none: it has not, or does not
  std::optional<EndStats> there_before{};  ///< and in its report before
};

/// The growth from one moment to another. A peer reports once a second: where no report has come meanwhile, its half is
/// the growth between its last two.
[[nodiscard]] BothEndsStats since(const BothEndsStats& before, const BothEndsStats& now);

/// Statistics of one connection since it was made. Times and rates are this end's view.
struct ConnectionStats : TransportStats {
  std::chrono::steady_clock::time_point made_at{};
  std::uint64_t bytes_sent = 0;      ///< payload given to the session
  std::uint64_t bytes_received = 0;  ///< payload given to local consumers
  std::uint64_t streams_opened = 0;
  std::size_t streams_open = 0;  ///< at this moment
  std::uint64_t blocks_sent = 0;
  std::uint64_t blocks_received = 0;
  std::size_t lanes = 0;
  std::size_t threads = 0;
  std::size_t flows = 1;                 ///< channels of the transport, the most at a time
  std::chrono::milliseconds silence{0};  ///< since the peer was heard; 0 while Connection::answers()
  Protection protection = Protection::private_;
  std::optional<Cipher> cipher{};  ///< none at auth and clear
  BothEndsStats ends{};            ///< by which it is found what its speed depends on
  /// By which candidates it goes; none: none were exchanged, or another program's pipe carries it
  std::optional<CandidatePair> selected_pair{};
};

/// The sum over several connections: counters and open streams are added, everything else is that of `latest`.
[[nodiscard]] ConnectionStats sum(const ConnectionStats& so_far, const ConnectionStats& latest);

}  // namespace udtcat
