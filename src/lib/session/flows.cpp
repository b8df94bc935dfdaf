// SPDX-License-Identifier: Apache-2.0
#include "lib/session/flows.hpp"

#include <algorithm>

#include "lib/core/stats_fields.hpp"

namespace udtcat::session {

Flow& Flows::choose(BlockNumber number) {
  if (flows_.size() == 1) return flows_.front();
  auto& longest_without = *std::min_element(
      flows_.begin(), flows_.end(), [](const Flow& one, const Flow& other) { return one.least_out < other.least_out; });
  Flow& chosen = number - longest_without.least_out >= kFlowTurn ? longest_without : least_loaded();
  chosen.least_out = number + 1;
  return chosen;
}

Flow& Flows::least_loaded() {
  std::size_t best = turn_;
  for (std::size_t i = 1; i < flows_.size(); ++i) {
    const std::size_t next = (turn_ + i) % flows_.size();
    if (flows_[next].untaken_bytes < flows_[best].untaken_bytes) best = next;
  }
  turn_ = (best + 1) % flows_.size();
  return flows_[best];
}

TransportStats Flows::stats() {
  TransportStats all;
  // Backwards: where the latest is taken, that is the first flow.
  for (auto flow = flows_.rbegin(); flow != flows_.rend(); ++flow)
    all = core::sum<TransportStats>(all, flow->channel->stats());
  return all;
}

void Flows::add_end_stats(EndStats& end) const {
  for (const Flow& flow : flows_) {
    EndStats one;
    flow.channel->add_end_stats(one);
    for (auto& time : one.stalled) time = time / flows_.size();
    end = core::sum(end, one);
  }
}

std::uint64_t Flows::retained_limit_bytes() const {
  std::uint64_t sum = 0;
  for (const Flow& flow : flows_) sum += flow.channel->retained_limit_bytes();
  return sum;
}

std::uint64_t Flows::ahead_bytes() const {
  std::uint64_t sum = 0;
  for (const Flow& flow : flows_) sum += std::min(flow.channel->ahead_bytes(), UINT64_MAX - sum);
  return sum;
}

std::optional<std::chrono::steady_clock::time_point> Flows::port_closed_since() {
  std::optional<std::chrono::steady_clock::time_point> latest;
  // An empty optional compares less than any time.
  for (Flow& flow : flows_) latest = std::max(latest, flow.channel->port_closed_since());
  return latest;
}

void Flows::trust_peer() {
  for (Flow& flow : flows_) flow.channel->trust_peer();
}

void Flows::try_path(const Endpoint& address) {
  for (Flow& flow : flows_) flow.channel->try_path(address);
}

void Flows::watch_path(const std::optional<Endpoint>& fallback) {
  for (Flow& flow : flows_) flow.channel->watch_path(fallback);
}

void Flows::close(std::chrono::milliseconds drain) {
  for (Flow& flow : flows_) flow.channel->close(drain);
}

}  // namespace udtcat::session
