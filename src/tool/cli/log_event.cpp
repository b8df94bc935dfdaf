// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/log_event.hpp"

#include <utility>

#include "lib/core/invariant.hpp"
#include "lib/core/printable.hpp"

namespace udtcat::tool {

namespace {

constexpr std::size_t kMaxEventMessageBytes = 2'048;  // guess: two paths of a thousand characters
constexpr std::size_t kMaxEventTextBytes = 512;       // guess: as kMaxSnapshotText

EventSink& event_sink() {
  static EventSink sink;
  return sink;
}

EventSink& event_observer() {
  static EventSink observer;
  return observer;
}

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::notice:
      return "notice";
    case Severity::info:
      return "info";
    case Severity::debug:
      return "debug";
  }
  UDTCAT_INVARIANT(false, "every Severity is listed above");
}

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::listening:
      return "listening";
    case EventKind::peer_up:
      return "peer_up";
    case EventKind::peer_gone:
      return "peer_gone";
    case EventKind::session_lost:
      return "session_lost";
    case EventKind::transfer:
      return "transfer";
    case EventKind::name_failed:
      return "name_failed";
    case EventKind::change:
      return "change";
    case EventKind::refused:
      return "refused";
    case EventKind::redial:
      return "redial";
    case EventKind::reload:
      return "reload";
    case EventKind::exit:
      return "exit";
  }
  UDTCAT_INVARIANT(false, "every EventKind is listed above");
}

void set_event_sink(EventSink sink) { event_sink() = std::move(sink); }

void set_event_observer(EventSink observer) { event_observer() = std::move(observer); }

void log_event(const LogEvent& event) {
  observe_event(event);
  tell_event(event);
}

void observe_event(const LogEvent& event) {
  if (event_observer()) event_observer()(event);
}

void tell_event(const LogEvent& event) {
  if (!event_sink()) return;
  LogEvent clean = event;
  clean.message = core::printable(event.message, kMaxEventMessageBytes);
  for (const auto member :
       {&LogEvent::peer, &LogEvent::address, &LogEvent::object, &LogEvent::reason, &LogEvent::result})
    if (auto& text = clean.*member) text = core::printable(*text, kMaxEventTextBytes);
  event_sink()(clean);
}

}  // namespace udtcat::tool
