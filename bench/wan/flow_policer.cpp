// SPDX-License-Identifier: Apache-2.0
#include "wan/flow_policer.hpp"

namespace udtcat::wan {

void FlowPolicer::set(BitRate rate, std::size_t bucket_bytes, TimePoint now) {
  rate_ = rate;
  bucket_bytes_ = bucket_bytes;
  for (Entry& entry : entries_) entry.policer.set(rate, bucket_bytes, now);
  if (!rate.unlimited()) return;
  by_flow_.clear();
  entries_.clear();
}

Policer& FlowPolicer::of(const Flow& flow, TimePoint now) {
  if (rate_.unlimited()) return unlimited_;
  const auto known = by_flow_.find(flow);
  if (known != by_flow_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
  } else {
    if (entries_.size() == kMostFlows) {
      by_flow_.erase(entries_.back().flow);
      entries_.pop_back();
    }
    entries_.push_front({flow, {}});
    entries_.front().policer.set(rate_, bucket_bytes_, now);
    by_flow_.emplace(flow, entries_.begin());
  }
  return entries_.front().policer;
}

}  // namespace udtcat::wan
