// SPDX-License-Identifier: Apache-2.0
/// Events of a process for its operator: a sentence for people, and the fields that programs read.
/// Fields: docs/spec/logs.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace udtcat::tool {

/// The level of a line, as syslog and a journal know it.  spec: sd-daemon(3)
enum class Severity { error = 3, warning = 4, notice = 5, info = 6, debug = 7 };
/// "error", "warning", "notice", "info", "debug".
[[nodiscard]] std::string_view to_string(Severity severity);

enum class EventKind {
  listening,
  peer_up,
  peer_gone,
  session_lost,
  transfer,
  name_failed,
  change,
  refused,
  redial,
  reload,
  exit
};
[[nodiscard]] std::string_view to_string(EventKind kind);

struct LogEvent {
  EventKind kind = EventKind::listening;
  Severity severity = Severity::notice;
  std::string message{};              ///< a sentence, which says all of it
  std::optional<std::string> peer{};  ///< the name of its key pair
  std::optional<std::string> address{};
  std::optional<std::string> object{};          ///< what was moved or changed: a path, a service, "stream"
  std::optional<std::string_view> direction{};  ///< of the bytes: kSent, kReceived, kBoth
  std::optional<std::string> reason{};          ///< the kind of a refusal; of redial the last error
  std::optional<std::string> result{};          ///< kComplete, or the error
  std::uint64_t bytes_sent = 0;                 ///< payload
  std::uint64_t bytes_received = 0;
  std::optional<std::uint64_t> files{};
  std::optional<std::chrono::nanoseconds> duration{};
  std::optional<int> exit_status{};
  std::uint64_t count = 1;  ///< of the events that this line stands for
};

inline constexpr const char* kComplete = "complete";

inline constexpr std::string_view kSent = "sent";
inline constexpr std::string_view kReceived = "received";
inline constexpr std::string_view kBoth = "both";

using EventSink = std::function<void(const LogEvent& event)>;
/// Where events go from now on; none: nowhere, as before the first call.
/// Threads: before there are others, or while none logs an event.
void set_event_sink(EventSink sink);
/// Sees each event once, as it happened, whether or not a line tells it; none: nobody does.
/// Threads: as set_event_sink().
void set_event_observer(EventSink observer);

/// An event that has happened: it is observed, and told.
/// Threads: confined to the main thread, as the two below.
void log_event(const LogEvent& event);
/// Observed alone: no line tells it, or not yet.
void observe_event(const LogEvent& event);
/// Told alone: it was observed before, stands for several that were, or is none that counts. Its texts, which peers may
/// have chosen, come to the sink printable and bounded.
void tell_event(const LogEvent& event);

}  // namespace udtcat::tool
