// SPDX-License-Identifier: Apache-2.0
#include "meet/pair_table.hpp"

#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "lib/core/log.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/net/bind_errors.hpp"

namespace udtcat::meet {

namespace {

using Why = meeting::Refused::Why;

tl::unexpected<meeting::Refused> no_room(std::string text) {
  return tl::unexpected(meeting::Refused{Why::no_room, std::move(text)});
}

}  // namespace

PairTable::PairTable(boost::asio::io_context& io, const PlaceLimits& limits, PeerLedger& ledger, Settings settings)
    : io_(io), limits_(limits), ledger_(ledger), settings_(std::move(settings)), resources_(settings_.rate) {}

tl::expected<PairTable::Id, meeting::Refused> PairTable::add(const RegisteredListener& listener, std::string connector,
                                                             const PeerLedger::Peer& peer, std::vector<std::byte> offer,
                                                             Pair::Handlers handlers) {
  if (listener.connection->streams_left() == 0) return no_room("the listener has as many pairs as it can have");
  RelayTokens tokens{};
  for (auto& token : tokens)
    if (const auto drawn = crypto::randomise(token); !drawn) return no_room(drawn.error().message());
  if (!ledger_.add_pair(peer)) return no_room("it has as many pairs as it takes, in all or of one peer");
  const auto bucket = bucket_of_pair(settings_.pair_rate);
  Pair::Relays relays{.datagrams = open_relay(tokens, bucket), .tcp = nullptr};
  if (settings_.relays_tcp) relays.tcp = std::make_unique<TcpRelay>(io_, bucket, resources_, limits_.patience);
  auto pair = std::make_unique<Pair>(io_, limits_, Pair::Names{listener.peer_text, std::move(connector), peer}, tokens,
                                     std::move(relays), std::move(handlers));
  pair->offer(listener.connection->open_stream(), std::move(offer));
  pairs_.emplace(next_id_, std::move(pair));
  return next_id_++;
}

void PairTable::again(Id id) {
  if (const auto found = pairs_.find(id); found != pairs_.end()) found->second->again();
}

void PairTable::leave(Id id, StreamEnd how) {
  const auto found = pairs_.find(id);
  if (found == pairs_.end()) return;
  found->second->leave(how);
  if (found->second->is_given_up()) forget(found);
}

/// All tokens are looked at, so that the time says nothing of any.
bool PairTable::take(TcpRelay::Socket socket, const meeting::Relay::Token& token) {
  std::optional<std::pair<Pair*, PairRole>> found;
  for (const auto& [id, pair] : pairs_)
    if (const auto role = pair->role_of(token)) found.emplace(pair.get(), *role);
  if (found) found->first->take(found->second, std::move(socket));
  return found.has_value();
}

void PairTable::sweep(Pair::TimePoint now) {
  for (auto at = pairs_.begin(); at != pairs_.end();) {
    const auto pair = at++;
    if (pair->second->is_idle(now)) forget(pair);
  }
}

void PairTable::forget(std::map<Id, std::unique_ptr<Pair>>::iterator at) {
  const Pair& pair = *at->second;
  for (const PairRole role : {PairRole::listener, PairRole::connector}) past_ += pair.counts(role);
  if (const DatagramRelay* const relay = pair.relay()) ports_.erase(relay->port());
  ledger_.remove_pair(pair.names().peer);
  pairs_.erase(at);
}

/// None: no port can be had, and the pair does without.
std::unique_ptr<DatagramRelay> PairTable::open_relay(const RelayTokens& tokens,
                                                     const std::shared_ptr<TokenBucket>& bucket) {
  const std::size_t base = settings_.locals.empty() ? 0 : settings_.locals.front().port();
  std::optional<Error> why;
  for (std::size_t port = base + 1; port <= base + limits_.pairs; ++port) {
    if (port > std::numeric_limits<std::uint16_t>::max()) break;
    const auto wanted = settings_.any_ports ? std::uint16_t{0} : static_cast<std::uint16_t>(port);
    if (ports_.contains(wanted)) continue;
    std::vector<Endpoint> locals;
    for (const Endpoint& each : settings_.locals) locals.push_back(each.with_port(wanted));
    auto relay = DatagramRelay::open(io_, locals, tokens, bucket, resources_);
    if (relay) {
      ports_.insert((*relay)->port());
      return std::move(*relay);
    }
    why = std::move(relay.error());
    if (settings_.any_ports || !net::another_port_may_do(*why, wanted)) break;
  }
  core::log().warn("a pair has no port that relays for it: {}", why ? why->message() : "none is left");
  return nullptr;
}

}  // namespace udtcat::meet
