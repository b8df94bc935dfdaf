// SPDX-License-Identifier: Apache-2.0
#include "wan/link_model.hpp"

#include <algorithm>

namespace udtcat::wan {

LinkCounters& LinkCounters::operator+=(const LinkCounters& other) {
  segments += other.segments;
  bytes += other.bytes;
  lost += other.lost;
  policed += other.policed;
  tail_dropped += other.tail_dropped;
  codel_dropped += other.codel_dropped;
  blacked_out += other.blacked_out;
  too_long += other.too_long;
  reordered += other.reordered;
  duplicated += other.duplicated;
  undelivered += other.undelivered;
  return *this;
}

LinkModel::LinkModel(const LinkSettings& settings, Random& random, TimePoint now)
    : random_(random), loss_(0, 0, random), reorder_(0, 0, random), duplicate_(0, 0, random) {
  set(settings, now);
}

void LinkModel::set(const LinkSettings& settings, TimePoint now) {
  settings_ = settings;
  flow_policer_.set(settings.flow_rate, settings.effective_flow_burst_bytes(), now);
  policer_.set(settings.police_rate, settings.effective_police_burst_bytes(), now);
  codel_.set(settings.codel_settings);
  transmitter_.set(settings.rate, settings.trace, now,
                   queue_.empty() ? 0 : transmitter_.sent_bytes(queue_.front().since, now));
  loss_ = Impairment(settings.loss, settings.burst_length, random_);
  reorder_ = Impairment(settings.reorder, 0, random_);
  duplicate_ = Impairment(settings.duplicate, 0, random_);
}

std::size_t LinkModel::offer(const Shape& shape, TimePoint now, const Flow& flow) {
  counters_.segments += shape.segments;
  counters_.bytes += shape.wire_bytes(0, shape.segments);
  if (down_) {
    counters_.blacked_out += shape.segments;
    return 0;
  }
  if (settings_.drop_above_bytes > 0 && shape.largest_wire_bytes() > settings_.drop_above_bytes) {
    counters_.too_long += shape.segments;
    return 0;
  }
  const std::size_t conform = conforming(shape, now, flow);
  const std::size_t accepted = fitting(shape, conform, now);
  counters_.policed += shape.segments - conform;
  counters_.tail_dropped += conform - accepted;
  if (accepted == 0) return 0;
  queue_.push_back({.shape = shape, .first = 0, .end = accepted, .since = now});
  queued_bytes_ += shape.wire_bytes(0, accepted);
  return accepted;
}

/// How many of the segments the flow's policer lets pass, and then the one for all.
std::size_t LinkModel::conforming(const Shape& shape, TimePoint now, const Flow& flow) {
  Policer& own = flow_policer_.of(flow, now);
  std::size_t count = 0;
  for (; count < shape.segments; ++count) {
    const std::size_t bytes = shape.wire_bytes(count, 1);
    if (!own.conforms(bytes, now) || !policer_.conforms(bytes, now)) break;
  }
  return count;
}

/// How many of the first `most` segments the queue has room for.
std::size_t LinkModel::fitting(const Shape& shape, std::size_t most, TimePoint now) const {
  if (most == 0 || transmitter_.unlimited() || has_room(shape.wire_bytes(0, most), now)) return most;
  // An empty queue takes at least one: a link whose queue is shorter than a packet would pass nothing.
  std::size_t count = queue_.empty() ? 1 : 0;
  while (has_room(shape.wire_bytes(0, count + 1), now)) ++count;
  return count;
}

bool LinkModel::has_room(std::size_t bytes, TimePoint now) const {
  if (queued_bytes_ + bytes > kMostQueueBytes) return false;
  const TimePoint since = queue_.empty() ? now : queue_.front().since;
  if (settings_.queue_time) return transmitter_.end(queued_bytes_ + bytes, since) - now <= *settings_.queue_time;
  const std::size_t sent = queue_.empty() ? 0 : transmitter_.sent_bytes(since, now);
  return queued_bytes_ + bytes <= settings_.effective_queue_bytes() + sent;
}

std::optional<Departure> LinkModel::next_departure(TimePoint now) {
  if (queue_.empty()) return std::nullopt;
  if (codel_drops(now)) {
    ++counters_.codel_dropped;
    Departure dropped = leave(1);
    dropped.copies = 0;
    return dropped;
  }
  const Waiting& waiting = queue_.front();
  const std::size_t count = run_length();
  const std::size_t bytes = waiting.wire_bytes(count);
  const TimePoint left_at = transmitter_.end(bytes, waiting.since);
  if (left_at > now) return std::nullopt;
  transmitter_.send(bytes, waiting.since);
  Departure departure = leave(count);
  departure.due = left_at + settings_.delay;
  strike(departure);
  return departure;
}

std::optional<TimePoint> LinkModel::next_due() const {
  if (queue_.empty()) return std::nullopt;
  const Waiting& waiting = queue_.front();
  return transmitter_.end(waiting.wire_bytes(run_length()), waiting.since) + settings_.delay;
}

/// How many segments leave together: up to the next that chance strikes, which is alone, as is one that CoDel watches.
std::size_t LinkModel::run_length() const {
  const Waiting& waiting = queue_.front();
  if (settings_.codel && codel_.is_above_target()) return 1;
  const std::size_t limit =
      std::max<std::size_t>(1, transmitter_.longest_run_bytes() / waiting.shape.largest_wire_bytes());
  const std::uint64_t unharmed = std::min({loss_.unharmed(), reorder_.unharmed(), duplicate_.unharmed()});
  return std::min({limit, waiting.end - waiting.first,
                   static_cast<std::size_t>(std::max<std::uint64_t>(1, std::min<std::uint64_t>(unharmed, SIZE_MAX)))});
}

/// Whether CoDel drops the first segment; it is asked once per segment, when the link is free for it.
bool LinkModel::codel_drops(TimePoint now) {
  if (!settings_.codel || is_admitted_) return false;
  const Waiting& waiting = queue_.front();
  const std::size_t bytes = waiting.wire_bytes(1);
  const TimePoint begin = transmitter_.begin(bytes, waiting.since);
  if (begin > now) return false;
  is_admitted_ = !codel_.drops(begin, begin - waiting.since, queued_bytes_ - bytes);
  return !is_admitted_;
}

Departure LinkModel::leave(std::size_t count) {
  Waiting& waiting = queue_.front();
  Departure departure{.first = waiting.first, .count = count, .is_last = waiting.first + count == waiting.end};
  queued_bytes_ -= waiting.wire_bytes(count);
  waiting.first += count;
  is_admitted_ = false;
  if (departure.is_last) queue_.pop_front();
  return departure;
}

void LinkModel::strike(Departure& departure) {
  const auto struck = [&departure](Impairment& impairment) {
    if (impairment.unharmed() > 0) {
      impairment.pass(departure.count);
      return false;
    }
    impairment.strike();
    return true;
  };
  const bool lost = struck(loss_);
  const bool late = struck(reorder_);
  const bool twice = struck(duplicate_);
  if (down_ || lost) {
    (down_ ? counters_.blacked_out : counters_.lost) += departure.count;
    departure.copies = 0;
    return;
  }
  if (late) {
    ++counters_.reordered;
    departure.late = true;
    departure.due += settings_.reorder_delay;
  }
  if (twice) {
    ++counters_.duplicated;
    departure.copies = 2;
  }
}

}  // namespace udtcat::wan
