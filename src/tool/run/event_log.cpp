// SPDX-License-Identifier: Apache-2.0
#include "tool/run/event_log.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "tool/run/transfer_event.hpp"

namespace udtcat::tool {

namespace {

using EventClock = std::chrono::steady_clock;

/// The latest, which stands for the earlier ones too.
LogEvent sum_of(const LogEvent& earlier, LogEvent latest) {
  latest.count += earlier.count;
  if (latest.address != earlier.address) latest.address.reset();
  if (latest.peer != earlier.peer) latest.peer.reset();
  latest.bytes_sent += earlier.bytes_sent;
  latest.bytes_received += earlier.bytes_received;
  if (earlier.files) latest.files = latest.files.value_or(0) + *earlier.files;
  if (!latest.direction || !earlier.direction)
    latest.direction = latest.direction ? latest.direction : earlier.direction;
  else if (latest.direction != earlier.direction)
    latest.direction = kBoth;
  return latest;
}

/// Where there is no room for another kind. Those that failed and those that did not are never told by one line.
std::string shared_kind_of(const LogEvent& event) {
  const bool has_failed = event.result && *event.result != kComplete;
  return fmt::format("{}{}", to_string(event.kind), has_failed ? " failed" : "");
}

LogEvent standing_for_many(LogEvent event) {
  if (event.count == 1) return event;
  event.duration.reset();
  if (event.kind == EventKind::transfer)
    describe_many(event);
  else
    event.message += fmt::format(" (the last of {})", event.count);
  return event;
}

}  // namespace

std::optional<LogEvent> EventLimit::add(const std::string& name, const LogEvent& event, TimePoint now) {
  for (Kind& kind : kinds_) refill(kind, now);
  Kind& kind = kind_named(name, shared_kind_of(event), now);
  if (!kind.counted && kind.left > 0) {
    --kind.left;
    return event;
  }
  if (!kind.counted) kind.due = now + kInterval;
  kind.counted = kind.counted ? sum_of(*kind.counted, event) : event;
  return std::nullopt;
}

std::vector<LogEvent> EventLimit::take_due(TimePoint now) {
  std::vector<LogEvent> due;
  for (Kind& kind : kinds_)
    if (kind.counted && kind.due <= now) due.push_back(standing_for_many(*std::exchange(kind.counted, std::nullopt)));
  return due;
}

std::optional<EventLimit::TimePoint> EventLimit::next_due() const {
  std::optional<TimePoint> next;
  for (const Kind& kind : kinds_)
    if (kind.counted && (!next || kind.due < *next)) next = kind.due;
  return next;
}

EventLimit::Kind& EventLimit::kind_named(std::string_view name, std::string_view otherwise, TimePoint now) {
  const auto known = std::ranges::find(kinds_, name, &Kind::name);
  if (known != kinds_.end()) return *known;
  std::erase_if(kinds_, [this](const Kind& kind) { return !kind.counted && kind.left == at_once_; });
  if (kinds_.size() >= kMaxKinds && name != otherwise) return kind_named(otherwise, otherwise, now);
  return kinds_.emplace_back(Kind{.name = std::string(name), .left = at_once_, .refilled_at = now});
}

void EventLimit::refill(Kind& kind, TimePoint now) const {
  const auto intervals = static_cast<std::size_t>(std::max<std::int64_t>((now - kind.refilled_at) / kInterval, 0));
  kind.refilled_at += intervals * kInterval;
  kind.left = std::min(kind.left + intervals, at_once_);
}

void EventLog::report(const std::string& kind, const LogEvent& event) {
  observe_event(event);
  if (const auto now = limit_.add(kind, event, EventClock::now())) return tell_event(*now);
  set_timer();
}

void EventLog::flush() {
  for (const LogEvent& event : limit_.take_due(EventClock::time_point::max())) tell_event(event);
}

void EventLog::set_timer() {
  const auto due = limit_.next_due();
  if (!due || timer_.expiry() == *due) return;  // none, or set already
  timer_.expires_at(*due);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
    if (error) return;  // set to another time
    for (const LogEvent& event : limit_.take_due(EventClock::now())) tell_event(event);
    set_timer();
  }));
}

}  // namespace udtcat::tool
