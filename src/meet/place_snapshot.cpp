// SPDX-License-Identifier: Apache-2.0
#include "meet/place_snapshot.hpp"

#include <chrono>

namespace udtcat::meet {

namespace {

tool::PairSnapshot snapshot_of(const Pair& pair) {
  tool::PairSnapshot snapshot{.listener = pair.names().listener,
                              .connector = pair.names().connector,
                              .age = std::chrono::steady_clock::now() - pair.made_at()};
  const RelayCounts listener = pair.counts(PairRole::listener);
  const RelayCounts connector = pair.counts(PairRole::connector);
  if (const DatagramRelay* const relay = pair.relay()) snapshot.port = relay->port();
  snapshot.by_tcp = pair.relays_tcp();
  snapshot.bytes_from_listener = listener.relayed_bytes;
  snapshot.bytes_from_connector = connector.relayed_bytes;
  snapshot.over_rate_bytes = listener.over_rate_bytes + connector.over_rate_bytes;
  snapshot.undelivered_datagrams = listener.undelivered_datagrams + connector.undelivered_datagrams;
  return snapshot;
}

}  // namespace

ConnectionStats relayed_stats(const Place& place) {
  ConnectionStats stats;
  stats.bytes_sent = place.pairs().past().relayed_bytes;
  for (const auto& [id, pair] : place.pairs().all())
    for (const PairRole role : {PairRole::listener, PairRole::connector})
      stats.bytes_sent += pair->counts(role).relayed_bytes;
  return stats;
}

void add_to(tool::ProcessSnapshot& snapshot, Place& place) {
  snapshot.all = relayed_stats(place);
  tool::PlaceSnapshot& meeting = snapshot.place.emplace();
  meeting.registrations = place.registrations();
  meeting.over_rate_bytes = place.pairs().past().over_rate_bytes;
  for (const auto& [id, pair] : place.pairs().all()) {
    meeting.pairs.push_back(snapshot_of(*pair));
    meeting.over_rate_bytes += meeting.pairs.back().over_rate_bytes;
  }
  std::uint64_t number = 0;
  for (const auto& each : place.all_sessions())
    snapshot.peers.push_back(tool::snapshot_of(++number, each->connection()));
  place.totals().add_to(snapshot);
}

}  // namespace udtcat::meet
