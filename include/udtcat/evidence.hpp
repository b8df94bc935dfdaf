// SPDX-License-Identifier: Apache-2.0
/// The evidence of a connection's two ends for what its speed depends on, and the verdict on it: why is it not faster?
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <udtcat/units.hpp>

namespace udtcat {

/// The reason why nothing leaves at a moment: whoever decides so charges the time to one of these (ADR-0042).
enum class Hold : std::uint8_t {
  source,       ///< the local source has nothing more to send
  credit,       ///< the peer grants no more: its consumer has not taken what it was sent, or its window is small
  cipher,       ///< the blocks are with the cipher threads
  sending,      ///< nothing: packets leave as fast as this host takes them
  path,         ///< the congestion control: its window or its rate; or the peer is silent
  rate_cap,     ///< TransportOptions::rate
  memory,       ///< TransportOptions::memory_bytes: so much is sent and not acknowledged
  peer_window,  ///< the peer's transport has no room for more
};
inline constexpr std::size_t kHolds = 8;

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

  LossByRate& operator+=(const LossByRate& other);
};

/// One end's half: sums since the connection was made, and what is known at the moment.
struct EndEvidence {
  std::chrono::microseconds elapsed{0};
  std::uint64_t bytes_sent = 0;                          ///< payload given to the session
  std::uint64_t bytes_received = 0;                      ///< payload that the consumers have taken
  std::array<std::chrono::microseconds, kHolds> held{};  ///< of sending, by Hold; of several flows the mean
  std::chrono::microseconds consuming{0};                ///< a consumer was being written to
  ThreadTime event_loop{};                               ///< of the thread that moves packets and blocks
  ThreadTime cipher{};                                   ///< of the cipher threads together
  std::uint64_t cipher_threads = 0;                      ///< 0: the event loop seals and opens
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

/// Both ends' halves.
struct Evidence {
  EndEvidence here{};
  std::optional<EndEvidence> there{};         ///< as the peer last reported; none: it has not, or does not
  std::optional<EndEvidence> there_before{};  ///< and in its report before
};

/// The growth from one moment to another. A peer reports once a second: where no report has come meanwhile, its half is
/// the growth between its last two.
[[nodiscard]] Evidence since(const Evidence& before, const Evidence& now);

/// The limit of the direction in which more payload moves.
enum class Limit : std::uint8_t {
  unknown,        ///< not known yet, or no one thing
  source,         ///< there is nothing more to send
  consumer,       ///< what takes the data takes no more
  processor,      ///< a thread has all of its core, or of what it gets of one
  socket_buffer,  ///< a host's sockets have no room for what comes in bursts
  memory,         ///< TransportOptions::memory_bytes in a round trip
  rate_cap,       ///< TransportOptions::rate
  path,           ///< the path carries no more
  loss,           ///< the path loses packets at any rate
  policer,        ///< the path drops what is beyond a rate, without a queue
  peer,           ///< the other end has no room for more, and does not say why
};

struct Verdict {
  enum class Where : std::uint8_t { here, there, between };
  enum class Thread : std::uint8_t { event_loop, cipher };

  Limit limit = Limit::unknown;
  Where where = Where::between;
  bool sends = true;                   ///< the direction: this end sends more than it receives
  BitRate rate{};                      ///< payload that moved in it
  Thread thread = Thread::event_loop;  ///< of Limit::processor
  double busy = 0;                     ///< of Limit::processor: share of the time that it ran
  double waited = 0;                   ///< and in which it could have run, and others did
  double lost = 0;                     ///< share of the packets
  double queued_lost = 0;              ///< of that, what a queue lost that was filled, mostly by us
  double dropped = 0;                  ///< of Limit::socket_buffer: datagrams dropped, to a packet sent
  bool path_changed = false;           ///< nothing is said of one path
  BitRate path_rate{};                 ///< zero: not known
  std::optional<std::chrono::microseconds> least_rtt{};
  std::chrono::microseconds queue{0};  ///< that the mean round trip is longer
};

/// The verdict on an interval. Total and pure: whatever a peer reports, and where evidence is thin it says so.
[[nodiscard]] Verdict verdict_on(const Evidence& evidence);

/// The fixed word for programs: "path", "consumer", "peer_consumer" where it is the other end's; empty: unknown.
/// spec: docs/man/udtcat-status.1, WHY
[[nodiscard]] std::string_view word_of(const Verdict& verdict);

}  // namespace udtcat
