// SPDX-License-Identifier: Apache-2.0
#include "tool/status/peer_totals.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::tool {

namespace {

std::string name_of_peer(const Connection& connection) {
  const auto identity = connection.peer_identity();
  return identity ? identity->name : std::string();
}

void add_moved(PeerTotal& total, const ConnectionStats& stats) {
  total.bytes_sent += stats.bytes_sent;
  total.bytes_received += stats.bytes_received;
  total.packets_sent += stats.packets_sent;
  const EndStats& measured = stats.ends.here;
  // Measured later than `stats` was: what is known of them by a cause is never less than before.
  total.packets_lost += std::max(stats.packets_lost, measured.packets_lost);
  if (measured.packets_sent == 0) return;  // by its transport, which measures no queue, or not yet
  total.packets_lost_queued += measured.queued_lost;
  total.packets_lost_path = total.packets_lost_path.value_or(0) + measured.packets_lost -
                            std::min(measured.queued_lost, measured.packets_lost);
}

}  // namespace

const std::string& PeerNames::counted_as(const std::string& name) {
  static const std::string kOther(kOtherPeers);
  if (name.empty()) return name;
  if (const auto known = names_.find(name); known != names_.end()) return *known;
  return names_.size() < kMostPeerTotals ? *names_.insert(name).first : kOther;
}

void PeerTotals::come(const std::string& name) {
  const std::string& counted = names_.counted_as(name);
  PeerTotal& total = totals_[counted];
  total.name = counted;
  ++total.handshakes;
}

void PeerTotals::come(const Connection& connection) { come(name_of_peer(connection)); }

void PeerTotals::leave(const std::string& name, const ConnectionStats& stats) {
  gone_ = sum(gone_, stats);
  gone_.streams_open = 0;
  const auto total = totals_.find(names_.counted_as(name));
  if (total != totals_.end()) add_moved(total->second, stats);
}

void PeerTotals::leave(Connection& connection) { leave(name_of_peer(connection), connection.stats()); }

void PeerTotals::add_to(ProcessSnapshot& snapshot) const {
  std::map<std::string, PeerTotal> all = totals_;
  for (const PeerSnapshot& peer : snapshot.peers) {
    auto total = all.find(peer.name);
    if (total == all.end()) total = all.find(std::string(kOtherPeers));
    if (total == all.end()) continue;
    add_moved(total->second, peer.stats);
    ++total->second.sessions;
    total->second.streams_open += peer.stats.streams_open;
  }
  snapshot.peer_totals.clear();
  for (auto& [name, total] : all) snapshot.peer_totals.push_back(std::move(total));
}

}  // namespace udtcat::tool
