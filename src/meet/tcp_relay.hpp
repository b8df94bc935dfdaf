// SPDX-License-Identifier: Apache-2.0
/// TCP connections of the two ends of one pair, joined to one (docs/spec/meet.md §6).
///
///   each direction: readable, and within the rates ─► a piece is read ─► it is written whole ─► readable …
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/lifetime.hpp"
#include "meet/datagram_relay.hpp"
#include "meet/relay_binding.hpp"
#include "meet/token_bucket.hpp"

namespace udtcat::meet {

/// An end that does not read stops the other: of each direction no more than a piece is here. The end of a direction is
/// handed on as such, a failure as a reset.
///
///   empty ──► one end is there ──► joined ──both directions have ended, or a failure──► empty
///     ▲              └──out of patience──┐
///     └──────────────────────────────────┘
///
/// Threads: confined to the io_context thread.
class TcpRelay {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Socket = boost::asio::ip::tcp::socket;

  /// bucket      of the pair
  /// resources   outlives this
  /// patience    for the other end
  TcpRelay(boost::asio::io_context& io, std::shared_ptr<TokenBucket> bucket, RelayResources& resources,
           std::chrono::milliseconds patience);
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;
  ~TcpRelay();

  /// A connection of that end. Of several that wait the latest counts; while two are joined there is no other.
  void take(PairRole from, Socket socket);

  [[nodiscard]] bool is_joined() const { return is_joined_; }
  [[nodiscard]] bool has(PairRole role) const { return socket(role).has_value(); }
  /// Of what came from that end.
  [[nodiscard]] const RelayCounts& counts(PairRole role) const { return direction(role).counts; }
  /// When bytes were last relayed, or a connection came.
  [[nodiscard]] TimePoint last_use() const { return last_use_; }

 private:
  struct Direction {
    explicit Direction(boost::asio::io_context& io) : pause(io) {}
    std::vector<std::byte> bytes{};
    std::size_t first_byte = 0;  // of those that are not written yet
    std::size_t end_byte = 0;
    bool over = false;
    boost::asio::steady_timer pause;
    RelayCounts counts{};
  };

  [[nodiscard]] std::optional<Socket>& socket(PairRole role) { return sockets_[index_of(role)]; }
  [[nodiscard]] const std::optional<Socket>& socket(PairRole role) const { return sockets_[index_of(role)]; }
  [[nodiscard]] Direction& direction(PairRole from) { return directions_[index_of(from)]; }
  [[nodiscard]] const Direction& direction(PairRole from) const { return directions_[index_of(from)]; }

  void join();
  void wait_readable(PairRole from);
  [[nodiscard]] std::size_t allowed_bytes();
  void read(PairRole from);
  void write(PairRole from);
  void end_direction(PairRole from);
  void end(bool in_order);

  const std::shared_ptr<TokenBucket> bucket_;
  RelayResources& resources_;
  const std::chrono::milliseconds patience_;
  std::array<std::optional<Socket>, kPairRoles> sockets_;
  std::array<Direction, kPairRoles> directions_;
  bool is_joined_ = false;
  TimePoint last_use_{};
  boost::asio::steady_timer deadline_;
  core::Lifetime joining_;  // of the two connections that are joined
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meet
