// SPDX-License-Identifier: Apache-2.0
#include "lib/session/flows.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "lib/core/stats_fields.hpp"

namespace udtcat::session {

namespace {

bool is_usable(const Flow& flow) { return !flow.broken && !flow.replaced; }

/// Without the values of the moment, which are not of the flows that go on.
EndStats sums_of(const Flow& flow) {
  EndStats sums;
  flow.channel->add_end_stats(sums);
  sums.stalled = {};
  sums.path_rate = sums.rate_cap = {};
  sums.memory_bytes = sums.trains_off = sums.packet_bytes = 0;
  sums.socket_drops = sums.socket_buffer_bytes = sums.socket_wanted_bytes = 0;
  return sums;
}

}  // namespace

Flow* Flows::find(std::uint8_t number) {
  const auto found =
      std::ranges::find_if(flows_, [&](const Flow& flow) { return flow.name.flow == number && !flow.replaced; });
  return found == flows_.end() ? nullptr : &*found;
}

std::size_t Flows::usable() const { return static_cast<std::size_t>(std::ranges::count_if(flows_, is_usable)); }

Flow& Flows::first() {
  const auto found = std::ranges::find_if(flows_, is_usable);
  return found == flows_.end() ? flows_.front() : *found;
}

/// The one whose bytes ahead of the transport will last for the shortest time, in turn among equals: so the fastest
/// always has something to send, and one that is new begins.
Flow& Flows::choose() {
  Flow& best = *std::ranges::min_element(flows_, {}, [](const Flow& flow) {
    const double ahead = static_cast<double>(std::max<std::uint64_t>(flow.channel->ahead_bytes(), 1));
    return std::tuple(flow.replaced, flow.broken, flow.stalled, static_cast<double>(flow.untaken_bytes) / ahead,
                      flow.turn);
  });
  best.turn = ++turns_;
  return best;
}

void Flows::remove(Flow& flow) {
  gone_ = core::sum<TransportStats>(gone_, flow.channel->stats());
  gone_end_ = core::sum(gone_end_, sums_of(flow));
  const auto at = std::ranges::find_if(flows_, [&](const Flow& each) { return &each == &flow; });
  removed_.splice(removed_.end(), flows_, at);
}

void Flows::forget_acknowledged() {
  for (Flow& flow : flows_) flow.forget_acknowledged();
}

TransportStats Flows::stats() {
  TransportStats all = gone_;
  for (Flow& flow : flows_) all = core::sum<TransportStats>(all, flow.channel->stats());
  // Of the values that are the latest one's: those of the first.
  const transport::ChannelStats of_first = first().channel->stats();
  all.rtt = of_first.rtt;
  all.transport = of_first.transport;
  return all;
}

void Flows::add_end_stats(EndStats& end) const {
  end = core::sum(end, gone_end_);
  const std::size_t flows = std::max<std::size_t>(usable(), 1);
  for (const Flow& flow : flows_) {
    if (!is_usable(flow) && usable() > 0) {
      end = core::sum(end, sums_of(flow));
      continue;
    }
    EndStats one;
    flow.channel->add_end_stats(one);
    for (auto& time : one.stalled) time = time / flows;
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
  for (const Flow& flow : flows_)
    if (is_usable(flow)) sum += std::min(flow.channel->ahead_bytes(), UINT64_MAX - sum);
  return sum;
}

std::optional<std::chrono::steady_clock::time_point> Flows::port_closed_since() {
  std::optional<std::chrono::steady_clock::time_point> latest;
  // An empty optional compares less than any time.
  for (Flow& flow : flows_)
    if (is_usable(flow)) latest = std::max(latest, flow.channel->port_closed_since());
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
