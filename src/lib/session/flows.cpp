// SPDX-License-Identifier: Apache-2.0
#include "lib/session/flows.hpp"

#include <algorithm>

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

transport::ChannelStats Flows::stats() {
  transport::ChannelStats sum = flows_.front().channel->stats();
  for (auto flow = flows_.begin() + 1; flow != flows_.end(); ++flow) {
    const transport::ChannelStats more = flow->channel->stats();
    sum.bytes_received += more.bytes_received;
    sum.bytes_arrived += more.bytes_arrived;
    sum.bytes_carried += more.bytes_carried;
    sum.packets_sent += more.packets_sent;
    sum.packets_lost += more.packets_lost;
    sum.packets_resent += more.packets_resent;
    sum.packets_late += more.packets_late;
  }
  return sum;
}

void Flows::add_evidence(EndEvidence& evidence) const {
  for (const Flow& flow : flows_) {
    EndEvidence one;
    flow.channel->add_evidence(one);
    for (std::size_t i = 0; i < kHolds; ++i) evidence.held[i] += one.held[i] / flows_.size();
    evidence.path_rate =
        BitRate::from_bits_per_second(evidence.path_rate.bits_per_second() + one.path_rate.bits_per_second());
    if (one.least_rtt) evidence.least_rtt = std::min(evidence.least_rtt.value_or(*one.least_rtt), *one.least_rtt);
    evidence.rtt_sum += one.rtt_sum;
    evidence.rtt_samples += one.rtt_samples;
    evidence.packets_sent += one.packets_sent;
    evidence.packets_lost += one.packets_lost;
    evidence.queued_lost += one.queued_lost;
    evidence.trains_off = std::max(evidence.trains_off, one.trains_off);
    evidence.loss_by_rate += one.loss_by_rate;
    evidence.loss_behind_loss += one.loss_behind_loss;
    evidence.path_changes += one.path_changes;
    evidence.packet_bytes = std::max(evidence.packet_bytes, one.packet_bytes);
    evidence.socket_drops = std::max(evidence.socket_drops, one.socket_drops);
    evidence.socket_buffer_bytes = std::max(evidence.socket_buffer_bytes, one.socket_buffer_bytes);
    evidence.socket_wanted_bytes = std::max(evidence.socket_wanted_bytes, one.socket_wanted_bytes);
    evidence.rate_cap =
        BitRate::from_bits_per_second(evidence.rate_cap.bits_per_second() + one.rate_cap.bits_per_second());
    evidence.memory_bytes += one.memory_bytes;
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

void Flows::close(std::chrono::milliseconds drain) {
  for (Flow& flow : flows_) flow.channel->close(drain);
}

}  // namespace udtcat::session
