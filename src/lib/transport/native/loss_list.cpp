// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/loss_list.hpp"

#include <algorithm>
#include <iterator>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLeastTolerance = 500us;  // guess: a busy host reads a train by two calls
constexpr Duration kMaxTolerance = 250ms;    // guess: later than that is lost for any purpose
constexpr int kRttShare = 8;           // guess: half of RFC 8985's quarter; a retransmission takes a round trip anyhow
constexpr Duration kDueSlack = 500us;  // guess: a gap that is due so soon goes into the same NAK
constexpr std::uint32_t kMaxBackoff = 4;  // guess: more NAKs do not shorten an outage
constexpr std::uint32_t kHalfClock = 1U << 31;

/// Whether a timestamp is older than another, on a clock that wraps.
bool older(std::uint32_t a, std::uint32_t b) { return a != b && b - a < kHalfClock; }

}  // namespace

Duration LossList::tolerance() const {
  return std::clamp(std::max(lateness_ + lateness_ / 4, rtt_ / kRttShare), kLeastTolerance, kMaxTolerance);
}

std::optional<TimePoint> LossList::deadline() const {
  if (by_due_.empty()) return std::nullopt;
  return by_due_.begin()->first;
}

bool LossList::repeats(TimePoint now) const {
  return !by_due_.empty() && by_due_.begin()->first <= now && gaps_.find(by_due_.begin()->second)->second.asked > 0;
}

void LossList::insert(PacketIndex first, const Gap& gap) {
  gaps_.emplace(first, gap);
  by_due_.emplace(gap.due, first);
}

void LossList::add(TimePoint now, PacketIndex first, PacketIndex last, std::uint32_t timestamp_us) {
  insert(first, {last, now, now + tolerance(), timestamp_us});
}

void LossList::fill(TimePoint now, PacketIndex index, std::uint32_t timestamp_us) {
  auto next = gaps_.upper_bound(index);
  if (next == gaps_.begin()) return;
  const auto found = std::prev(next);
  if (index > found->second.last) return;
  if (older(timestamp_us, found->second.revealed_by_us)) on_late(now - found->second.found);
  const PacketIndex first = found->first;
  const Gap gap = found->second;
  gaps_.erase(found);
  by_due_.erase({gap.due, first});
  if (first < index) {
    Gap before = gap;
    before.last = index - 1;
    insert(first, before);
  }
  if (index < gap.last) insert(index + 1, gap);
}

void LossList::on_late(Duration lateness) {
  ++late_;
  // Tolerance rises at once and falls slowly: an early NAK costs a packet sent twice, a late one a little delay.
  lateness_ = lateness > lateness_ ? lateness : lateness_ - (lateness_ - lateness) / 64;
}

std::vector<LossList::Range> LossList::take_due(TimePoint now, std::size_t most, const Backoff& backoff) {
  std::vector<Range> due;
  while (due.size() < most && !by_due_.empty() && by_due_.begin()->first <= now + kDueSlack) {
    const PacketIndex first = by_due_.extract(by_due_.begin()).value().second;
    Gap& gap = gaps_.find(first)->second;
    due.push_back({first, gap.last});
    gap.asked = std::min(gap.asked + 1, backoff.prompts + kMaxBackoff);
    gap.due = now + (gap.asked <= backoff.prompts ? backoff.prompt : backoff.after * (gap.asked - backoff.prompts));
    by_due_.emplace(gap.due, first);
  }
  std::ranges::sort(due, {}, &Range::first);
  return due;
}

}  // namespace udtcat::transport::native
