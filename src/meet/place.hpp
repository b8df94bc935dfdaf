// SPDX-License-Identifier: Apache-2.0
/// A meeting place: it brings listeners and connectors together, and relays for them (docs/spec/meet.md).
///
///   sessions ─► streams ─► registrations, asks ─► pairs ─► relayed datagrams and TCP
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/options.hpp>

#include "lib/core/lifetime.hpp"
#include "meet/client_stream.hpp"
#include "meet/place_session.hpp"
#include "tool/status/peer_totals.hpp"

namespace udtcat::meet {

/// Sessions with a place are small: there are many, and little is said in them.
void make_small(SessionOptions& session, TransportOptions& transport);

/// Threads: confined to the io_context thread.
class Place {
 public:
  /// on_refused   for each thing that a peer was not given
  Place(boost::asio::io_context& io, const PlaceLimits& limits, PairTable::Settings settings,
        std::function<void(const Connection& peer, const Error& why)> on_refused);
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() = default;

  void add(std::unique_ptr<Connection> connection);
  /// A TCP connection that began with a token for a relay. One of no pair is closed without a word.
  void take(TcpRelay::Socket socket, const meeting::Relay::Token& token, const Endpoint& from);
  /// Tells all peers. `done` is called when the last is gone, never from inside this call.
  void stop(const Error& why, std::function<void()> done);

  using Sessions = std::list<std::unique_ptr<PlaceSession>>;
  [[nodiscard]] const Sessions& all_sessions() const { return sessions_; }
  [[nodiscard]] const tool::PeerTotals& totals() const { return totals_; }
  [[nodiscard]] std::size_t registrations() const { return state_.ledger.registrations(); }
  [[nodiscard]] const PairTable& pairs() const { return state_.pairs; }

 private:
  void sweep();

  PlaceState state_;
  Sessions sessions_;
  tool::PeerTotals totals_;
  boost::asio::steady_timer sweep_timer_;
  std::function<void()> stopped_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meet
