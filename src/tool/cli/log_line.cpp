// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/log_line.hpp"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lib/core/invariant.hpp"

namespace udtcat::tool {

namespace {

using Clock = std::chrono::system_clock;
using EventJson = nlohmann::ordered_json;

enum EventField : unsigned {
  kPeerFields = 1,  // peer, address
  kObjectField = 2,
  kByteFields = 4,  // direction, bytes_sent, bytes_received
  kFilesField = 8,
  kDurationField = 16,
  kReasonField = 32,
  kResultField = 64,
  kCountField = 128,
  kStatusField = 256,
};

/// Each event has all of its fields, and null for what is not known.  spec: docs/spec/logs.md §3
unsigned fields_of(EventKind kind) {
  switch (kind) {
    case EventKind::listening:
      return kPeerFields | kObjectField;
    case EventKind::peer_up:
      return kPeerFields | kCountField;
    case EventKind::peer_gone:
      return kPeerFields | kByteFields | kDurationField | kResultField | kCountField;
    case EventKind::session_lost:
    case EventKind::name_failed:
      return kPeerFields | kResultField | kCountField;
    case EventKind::transfer:
      return kPeerFields | kObjectField | kByteFields | kFilesField | kDurationField | kResultField | kCountField;
    case EventKind::change:
      return kPeerFields | kObjectField | kCountField;
    case EventKind::refused:
      return kPeerFields | kReasonField | kCountField;
    case EventKind::redial:
      return kPeerFields | kDurationField | kReasonField;
    case EventKind::reload:
      return kResultField;
    case EventKind::exit:
      return kResultField | kStatusField;
  }
  UDTCAT_INVARIANT(false, "every EventKind is listed above");
}

template <typename Value>
EventJson value_or_null(const std::optional<Value>& value) {
  return value ? EventJson(*value) : EventJson(nullptr);
}

std::tm broken_down(Clock::time_point time, std::tm* (*convert)(const std::time_t*, std::tm*)) {
  const std::time_t seconds = Clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  std::tm parts{};
  convert(&seconds, &parts);
  return parts;
}

auto milliseconds_of(Clock::time_point time) {
  return std::chrono::floor<std::chrono::milliseconds>(time - std::chrono::floor<std::chrono::seconds>(time)).count();
}

EventJson head_of(Clock::time_point time, Severity level, std::string_view service, std::string_view text) {
  return {{"time", utc_time_text(time)},
          {"level", to_string(level)},
          {"service", service.empty() ? EventJson(nullptr) : EventJson(service)},
          {"message", text}};
}

std::string dumped(const EventJson& json) { return json.dump(-1, ' ', false, EventJson::error_handler_t::replace); }

}  // namespace

std::string_view to_string(LogFormat format) { return format == LogFormat::json ? "json" : "text"; }

std::optional<LogFormat> parse_log_format(std::string_view name) {
  for (const LogFormat format : {LogFormat::text, LogFormat::json})
    if (name == to_string(format)) return format;
  return std::nullopt;
}

LogFormat log_format_in(const std::vector<std::string>& words) {
  constexpr std::string_view kOption = "--log-format";
  LogFormat found = LogFormat::text;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string_view word = words[i];
    if (word == kOption && i + 1 < words.size()) found = parse_log_format(words[i + 1]).value_or(found);
    if (word.starts_with(kOption) && word.size() > kOption.size() && word[kOption.size()] == '=')
      found = parse_log_format(word.substr(kOption.size() + 1)).value_or(found);
  }
  return found;
}

std::string local_time_text(Clock::time_point time) {
  const std::tm parts = broken_down(time, &::localtime_r);
  const long minutes = parts.tm_gmtoff / 60;
  const long size = minutes < 0 ? -minutes : minutes;
  return fmt::format("{:%FT%T}.{:03}{}{:02}:{:02}", parts, milliseconds_of(time), minutes < 0 ? '-' : '+', size / 60,
                     size % 60);
}

std::string utc_time_text(Clock::time_point time) {
  return fmt::format("{:%FT%T}.{:03}Z", broken_down(time, &::gmtime_r), milliseconds_of(time));
}

std::optional<Clock::time_point> parse_utc_time(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (kForm[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != kForm[i]) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (const char digit : text.substr(at, digits)) value = 10 * value + (digit - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const int hour = number(11, 2);
  const int minute = number(14, 2);
  const int second = number(17, 2);
  constexpr std::chrono::year kFirst{1970};
  constexpr std::chrono::year kLast{2200};  // spec: system_clock counts nanoseconds to 2262
  if (!date.ok() || date.year() < kFirst || date.year() > kLast || hour > 23 || minute > 59 || second > 59)
    return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + std::chrono::milliseconds(number(20, 3));
}

std::string json_line(Clock::time_point time, Severity level, std::string_view service, std::string_view text) {
  return dumped(head_of(time, level, service, text));
}

std::string json_line(Clock::time_point time, std::string_view service, const LogEvent& event) {
  EventJson json = head_of(time, event.severity, service, event.message);
  const unsigned fields = fields_of(event.kind);
  json["event"] = to_string(event.kind);
  if ((fields & kPeerFields) != 0) {
    json["peer"] = value_or_null(event.peer);
    json["address"] = value_or_null(event.address);
  }
  if ((fields & kObjectField) != 0) json["object"] = value_or_null(event.object);
  if ((fields & kByteFields) != 0) {
    json["direction"] = value_or_null(event.direction);
    json["bytes_sent"] = event.bytes_sent;
    json["bytes_received"] = event.bytes_received;
  }
  if ((fields & kFilesField) != 0) json["files"] = value_or_null(event.files);
  if ((fields & kDurationField) != 0)
    json["duration_seconds"] =
        event.duration ? EventJson(std::chrono::duration<double>(*event.duration).count()) : EventJson(nullptr);
  if ((fields & kReasonField) != 0) json["reason"] = value_or_null(event.reason);
  if ((fields & kResultField) != 0) json["result"] = value_or_null(event.result);
  if ((fields & kStatusField) != 0) json["exit_status"] = value_or_null(event.exit_status);
  if ((fields & kCountField) != 0) json["count"] = event.count;
  return dumped(json);
}

}  // namespace udtcat::tool
