// SPDX-License-Identifier: Apache-2.0
/// Why is a connection not faster? The diagnosis of what limits it, by the statistics of its two ends (ADR-0042).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include <udtcat/stats.hpp>
#include <udtcat/units.hpp>

namespace udtcat {

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

/// Share of the packets: where more are lost, a limit, as of a policer, is likelier than random loss.
inline constexpr double kMaxRandomLoss = 0.3;  // guess: links that lose more are rarer than limits that do

struct Diagnosis {
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

/// The diagnosis of an interval, as since() gives it. Total and pure: whatever a peer reports, and where little was
/// measured it says so.
[[nodiscard]] Diagnosis diagnose(const BothEndsStats& ends);

/// The fixed word for programs: "path", "consumer", "peer_consumer" where it is the other end's; empty: unknown.
/// spec: docs/man/udtcat-status.1, WHY
[[nodiscard]] std::string_view word_of(const Diagnosis& diagnosis);

}  // namespace udtcat
