// SPDX-License-Identifier: Apache-2.0
#include "wan/link_model.hpp"

#include <algorithm>
#include <limits>

namespace udtcat::wan {
namespace {

// A wire delivers a segment as soon as it has come; a run is delivered when its last one has, so it must not be long.
constexpr auto kLongestRun = std::chrono::microseconds(250);  // guess: within 2 % of the shortest round trips of a WAN

}  // namespace

LinkModel::LinkModel(const LinkSettings& settings, Random& random)
    : random_(random), loss_(0, 0, random), reorder_(0, 0, random), duplicate_(0, 0, random) {
  set(settings);
}

void LinkModel::set(const LinkSettings& settings) {
  settings_ = settings;
  const std::uint64_t rate = settings.rate.bits_per_second();
  constexpr std::uint64_t kPicosecondBits = 8'000'000'000'000;
  const Picoseconds byte_time_before = byte_time_;
  byte_time_ = Picoseconds(rate == 0 ? 0 : static_cast<std::int64_t>((kPicosecondBits + rate / 2) / rate));
  // The queue counts bytes, whatever their time was.
  busy_for_ = byte_time_before.count() == 0 ? Picoseconds(0) : byte_time_ * (busy_for_ / byte_time_before);
  longest_run_bytes_ = rate == 0 ? std::numeric_limits<std::size_t>::max()
                                 : static_cast<std::size_t>(Picoseconds(kLongestRun) / byte_time_);
  loss_ = Impairment(settings.loss, settings.burst_length, random_);
  reorder_ = Impairment(settings.reorder, 0, random_);
  duplicate_ = Impairment(settings.duplicate, 0, random_);
}

void LinkModel::offer(const Shape& shape, TimePoint now, std::vector<SegmentRun>& runs) {
  runs.clear();
  counters_.segments += shape.segments;
  counters_.bytes += shape.wire_bytes(0, shape.segments);
  if (down_) {
    counters_.blacked_out += shape.segments;
    return;
  }
  if (settings_.drop_above_bytes > 0 && shape.largest_wire_bytes() > settings_.drop_above_bytes) {
    counters_.too_long += shape.segments;
    return;
  }
  if (busy_since_ + std::chrono::duration_cast<std::chrono::nanoseconds>(busy_for_) <= now) {
    busy_since_ = now;
    busy_for_ = Picoseconds(0);
  }
  const std::size_t accepted = fitting(shape, now);
  counters_.tail_dropped += shape.segments - accepted;
  std::size_t run_limit = std::max<std::size_t>(1, longest_run_bytes_ / shape.largest_wire_bytes());
  for (std::size_t first = 0; first < accepted;) {
    const std::size_t count = std::min(run_limit, next_length(accepted - first));
    pass(shape, first, count, runs);
    first += count;
  }
}

/// How many of the segments the queue has room for.
std::size_t LinkModel::fitting(const Shape& shape, TimePoint now) const {
  if (settings_.rate.unlimited()) return shape.segments;
  const auto backlog_time = std::max(Picoseconds(0), busy_for_ - Picoseconds(now - busy_since_));
  const auto backlog_bytes = static_cast<std::size_t>(backlog_time / byte_time_);
  const std::size_t queue_bytes = settings_.effective_queue_bytes();
  if (backlog_bytes > 0 && backlog_bytes >= queue_bytes) return 0;
  const std::size_t room = queue_bytes - std::min(queue_bytes, backlog_bytes);
  if (shape.wire_bytes(0, shape.segments) <= room) return shape.segments;
  // An empty queue takes at least one: a link whose queue is shorter than a packet would pass nothing.
  return std::max<std::size_t>(backlog_bytes == 0 ? 1 : 0, room / shape.largest_wire_bytes());
}

/// Up to the next segment that chance strikes; that one alone, if it is the first.
std::size_t LinkModel::next_length(std::size_t left) const {
  const std::uint64_t unharmed = std::min({loss_.unharmed(), reorder_.unharmed(), duplicate_.unharmed()});
  return unharmed == 0 ? 1 : static_cast<std::size_t>(std::min<std::uint64_t>(unharmed, left));
}

void LinkModel::pass(const Shape& shape, std::size_t first, std::size_t count, std::vector<SegmentRun>& runs) {
  occupy(shape.wire_bytes(first, count));
  const auto struck = [count](Impairment& impairment) {
    if (impairment.unharmed() > 0) {
      impairment.pass(count);
      return false;
    }
    impairment.strike();
    return true;
  };
  const bool lost = struck(loss_);
  const bool late = struck(reorder_);
  const bool twice = struck(duplicate_);
  if (lost) {
    ++counters_.lost;
    return;
  }
  SegmentRun run{.first = first, .count = count, .due = arrival(), .late = late};
  if (late) {
    ++counters_.reordered;
    run.due += settings_.reorder_delay;
  }
  runs.push_back(run);
  if (!twice) return;
  ++counters_.duplicated;
  runs.push_back(run);
}

TimePoint LinkModel::arrival() const {
  return busy_since_ + std::chrono::duration_cast<std::chrono::nanoseconds>(busy_for_) + settings_.delay;
}

}  // namespace udtcat::wan
