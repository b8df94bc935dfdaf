#include "transport/native/hole_list.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLeastTolerance = 500us;  // guess: a train split over two reads of a busy host
constexpr Duration kMostTolerance = 250ms;   // guess: later than that is lost for any purpose
constexpr int kRttShare = 8;                 // guess: half of RFC 8985's quarter; repair costs a round trip anyhow
constexpr Duration kDueSlack = 500us;        // guess: what is due so soon goes along
constexpr std::uint32_t kMostBackoff = 4;    // guess: an outage answers nothing, however often it is asked
constexpr std::uint32_t kHalfClock = 1U << 31;

/// Whether a timestamp is older than another, on a clock that wraps.
bool older(std::uint32_t a, std::uint32_t b) { return a != b && b - a < kHalfClock; }

}  // namespace

Duration HoleList::tolerance() const {
  return std::clamp(std::max(lateness_ + lateness_ / 4, rtt_ / kRttShare), kLeastTolerance, kMostTolerance);
}

std::optional<TimePoint> HoleList::deadline() const {
  if (holes_.empty()) return std::nullopt;
  return next_due_;
}

void HoleList::add(TimePoint now, PacketIndex first, PacketIndex last, std::uint32_t timestamp_us) {
  const TimePoint due = now + tolerance();
  holes_.emplace_hint(holes_.end(), first, Hole{last, now, due, timestamp_us});
  next_due_ = std::min(next_due_, due);
}

void HoleList::fill(TimePoint now, PacketIndex index, std::uint32_t timestamp_us) {
  auto next = holes_.upper_bound(index);
  if (next == holes_.begin()) return;
  const auto found = std::prev(next);
  if (index > found->second.last) return;
  if (older(timestamp_us, found->second.revealed_by_us)) on_late(now - found->second.found);
  const PacketIndex last = found->second.last;
  const Hole rest = found->second;
  if (found->first == index)
    holes_.erase(found);
  else
    found->second.last = index - 1;
  if (index < last) holes_.emplace_hint(next, index + 1, rest);
  if (holes_.empty()) next_due_ = TimePoint::max();
}

void HoleList::on_late(Duration lateness) {
  // Up at once, down slowly: one early NAK costs a packet sent twice, a late one nothing but a little delay.
  lateness_ = lateness > lateness_ ? lateness : lateness_ - (lateness_ - lateness) / 64;
}

std::vector<HoleList::Range> HoleList::take_due(TimePoint now, std::size_t most, Duration repeat_after) {
  std::vector<Range> due;
  TimePoint next = TimePoint::max();
  for (auto& [first, hole] : holes_) {
    if (hole.due <= now + kDueSlack && due.size() < most) {
      due.push_back({first, hole.last});
      hole.asked = std::min(hole.asked + 1, kMostBackoff);
      hole.due = now + repeat_after * hole.asked;
    }
    next = std::min(next, hole.due);
  }
  next_due_ = next;
  return due;
}

}  // namespace udtcat::transport::native
