// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/flow_watch.hpp"

#include <algorithm>

namespace udtcat::connection {

FlowWatch::Seen FlowWatch::seen(TimePoint now, const session::FlowProgress& flow) const {
  const auto before = std::ranges::find_if(seen_, [&](const Seen& each) { return each.flow.name == flow.name; });
  if (before == seen_.end()) return {flow, now, now, now};
  Seen next = *before;
  const bool acknowledges = flow.acknowledged > before->flow.acknowledged;
  const bool receives = flow.received > before->flow.received;
  if (acknowledges || !before->flow.has_unacknowledged) next.acknowledged_at = now;
  if (receives || !before->flow.awaited) next.received_at = now;
  if (acknowledges || receives) next.went_on_at = now;
  next.flow = flow;
  return next;
}

std::vector<std::uint8_t> FlowWatch::look(TimePoint now, std::span<const session::FlowProgress> flows) {
  std::vector<Seen> now_seen;
  for (const session::FlowProgress& flow : flows) now_seen.push_back(seen(now, flow));
  seen_ = std::move(now_seen);
  std::vector<std::uint8_t> silent;
  for (const Seen& each : seen_) {
    const auto of_path = kFlowSilenceRtts * each.flow.rtt.value_or(std::chrono::microseconds(0));
    const auto patience = std::max<std::chrono::microseconds>(kLeastFlowSilence, of_path);
    const bool is_late = (each.flow.has_unacknowledged && now - each.acknowledged_at >= patience) ||
                         (each.flow.awaited && now - each.received_at >= patience);
    const bool others_went_on = std::ranges::any_of(
        seen_, [&](const Seen& other) { return other.went_on_at > each.went_on_at && !other.flow.broken; });
    // Whatever others do: it may be the only one.
    const bool is_late_both_ways = now - std::max(each.acknowledged_at, each.received_at) >= 2 * patience;
    if (is_late && (others_went_on || is_late_both_ways) && !each.flow.broken) silent.push_back(each.flow.name.flow);
  }
  return silent;
}

}  // namespace udtcat::connection
