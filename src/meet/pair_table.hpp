// SPDX-License-Identifier: Apache-2.0
/// The pairs of a place, and what relays for them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/units.hpp>

#include "lib/meeting/message.hpp"
#include "meet/datagram_relay.hpp"
#include "meet/pair.hpp"
#include "meet/peer_ledger.hpp"
#include "meet/registry.hpp"

namespace udtcat::meet {

/// Threads: confined to the io_context thread.
class PairTable {
 public:
  using Id = std::uint64_t;

  struct Settings {
    std::vector<Endpoint> locals{};  ///< of the place's own port, one of each family; the relays' ports follow it
    bool any_ports = false;          ///< the system chooses the relays' ports
    bool relays_tcp = false;         ///< TCP connections that begin with a token are handed to take()
    BitRate pair_rate{};             ///< of one pair, both ways together
    BitRate rate{};                  ///< of all
  };

  /// `ledger` outlives this.
  PairTable(boost::asio::io_context& io, const PlaceLimits& limits, PeerLedger& ledger, Settings settings);

  /// connector   for people
  /// errors      (as a message): no room
  [[nodiscard]] tl::expected<Id, meeting::Refused> add(const RegisteredListener& listener, std::string connector,
                                                       const PeerLedger::Peer& peer, std::vector<std::byte> offer,
                                                       Pair::Handlers handlers);
  /// Of a pair that may be over.
  void again(Id id);
  /// The connector's stream has gone.
  void leave(Id id, StreamEnd how);
  /// A TCP connection that began with a token.  returns  whether it is a pair's
  [[nodiscard]] bool take(TcpRelay::Socket socket, const meeting::Relay::Token& token);
  /// Forgets the pairs that are over.
  void sweep(Pair::TimePoint now);

  [[nodiscard]] const std::map<Id, std::unique_ptr<Pair>>& all() const { return pairs_; }
  /// The counts of pairs that are over, both ways together.
  [[nodiscard]] const RelayCounts& past() const { return past_; }

 private:
  void forget(std::map<Id, std::unique_ptr<Pair>>::iterator at);
  [[nodiscard]] std::unique_ptr<DatagramRelay> open_relay(const RelayTokens& tokens,
                                                          const std::shared_ptr<TokenBucket>& bucket);

  boost::asio::io_context& io_;
  const PlaceLimits limits_;
  PeerLedger& ledger_;
  const Settings settings_;
  RelayResources resources_;
  Id next_id_ = 0;
  std::map<Id, std::unique_ptr<Pair>> pairs_;
  std::set<std::uint16_t> ports_;  // in use
  RelayCounts past_;
};

}  // namespace udtcat::meet
