// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/hole_list.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLeastTolerance = 500us;  // guess: a train split over two reads of a busy host
constexpr Duration kMaxTolerance = 250ms;    // guess: later than that is lost for any purpose
constexpr int kRttShare = 8;                 // guess: half of RFC 8985's quarter; repair costs a round trip anyhow
constexpr Duration kDueSlack = 500us;        // guess: what is due so soon goes along
constexpr std::uint32_t kMaxBackoff = 4;     // guess: an outage answers nothing, however often it is asked
constexpr std::uint32_t kHalfClock = 1U << 31;

/// Whether a timestamp is older than another, on a clock that wraps.
bool older(std::uint32_t a, std::uint32_t b) { return a != b && b - a < kHalfClock; }

}  // namespace

Duration HoleList::tolerance() const {
  return std::clamp(std::max(lateness_ + lateness_ / 4, rtt_ / kRttShare), kLeastTolerance, kMaxTolerance);
}

std::optional<TimePoint> HoleList::deadline() const {
  if (by_due_.empty()) return std::nullopt;
  return by_due_.begin()->first;
}

void HoleList::insert(PacketIndex first, const Hole& hole) {
  holes_.emplace(first, hole);
  by_due_.emplace(hole.due, first);
}

void HoleList::add(TimePoint now, PacketIndex first, PacketIndex last, std::uint32_t timestamp_us) {
  insert(first, {last, now, now + tolerance(), timestamp_us});
}

void HoleList::fill(TimePoint now, PacketIndex index, std::uint32_t timestamp_us) {
  auto next = holes_.upper_bound(index);
  if (next == holes_.begin()) return;
  const auto found = std::prev(next);
  if (index > found->second.last) return;
  if (older(timestamp_us, found->second.revealed_by_us)) on_late(now - found->second.found);
  const PacketIndex first = found->first;
  const Hole hole = found->second;
  holes_.erase(found);
  by_due_.erase({hole.due, first});
  if (first < index) {
    Hole before = hole;
    before.last = index - 1;
    insert(first, before);
  }
  if (index < hole.last) insert(index + 1, hole);
}

void HoleList::on_late(Duration lateness) {
  ++late_;
  // Up at once, down slowly: one early NAK costs a packet sent twice, a late one nothing but a little delay.
  lateness_ = lateness > lateness_ ? lateness : lateness_ - (lateness_ - lateness) / 64;
}

std::vector<HoleList::Range> HoleList::take_due(TimePoint now, std::size_t most, Duration repeat_after) {
  std::vector<Range> due;
  while (due.size() < most && !by_due_.empty() && by_due_.begin()->first <= now + kDueSlack) {
    const PacketIndex first = by_due_.extract(by_due_.begin()).value().second;
    Hole& hole = holes_.find(first)->second;
    due.push_back({first, hole.last});
    hole.asked = std::min(hole.asked + 1, kMaxBackoff);
    hole.due = now + repeat_after * hole.asked;
    by_due_.emplace(hole.due, first);
  }
  std::ranges::sort(due, {}, &Range::first);
  return due;
}

}  // namespace udtcat::transport::native
