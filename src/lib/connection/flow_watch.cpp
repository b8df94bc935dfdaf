// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/flow_watch.hpp"

#include <algorithm>

namespace udtcat::connection {

FlowWatch::Seen FlowWatch::seen(TimePoint now, const session::FlowProgress& flow) const {
  const auto before = std::ranges::find_if(seen_, [&](const Seen& each) { return each.flow.name == flow.name; });
  if (before == seen_.end()) return {flow, now, now};
  Seen next = *before;
  const bool acknowledges = flow.acknowledged > before->flow.acknowledged;
  const bool receives = flow.received > before->flow.received;
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
    const auto unanswered = each.flow.unanswered_since ? now - *each.flow.unanswered_since : TimePoint::duration(0);
    const bool is_late = unanswered >= patience || (each.flow.awaited && now - each.received_at >= patience);
    const bool others_went_on = std::ranges::any_of(
        seen_, [&](const Seen& other) { return other.went_on_at > each.went_on_at && !other.flow.broken; });
    // Whatever others do: it may be the only one.
    const bool is_long = unanswered >= 2 * patience;
    if (!each.flow.broken && (is_long || (is_late && others_went_on))) silent.push_back(each.flow.name.flow);
  }
  return silent;
}

}  // namespace udtcat::connection
