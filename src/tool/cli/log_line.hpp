// SPDX-License-Identifier: Apache-2.0
/// Lines of a log, as text and as JSON. No input or output here.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/cli/log_event.hpp"

namespace udtcat::tool {

enum class LogFormat { text, json };
[[nodiscard]] std::string_view to_string(LogFormat format);
/// none: it is no name of one
[[nodiscard]] std::optional<LogFormat> parse_log_format(std::string_view name);
/// The format that a command line asks for, also one that has a mistake in it; `text` where it asks for none.
[[nodiscard]] LogFormat log_format_in(const std::vector<std::string>& words);

/// "2026-11-29T14:03:59.027+01:00".  spec: ISO 8601, RFC 3339
[[nodiscard]] std::string local_time_text(std::chrono::system_clock::time_point time);
/// "2026-11-29T13:03:59.027Z".
[[nodiscard]] std::string utc_time_text(std::chrono::system_clock::time_point time);

/// The inverse; none: it is no such time, or one of a year before 1970 or after 2200.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_utc_time(std::string_view text);

/// service   empty: it has no name
/// text      any bytes: what is no UTF-8 is replaced
[[nodiscard]] std::string json_line(std::chrono::system_clock::time_point time, Severity level,
                                    std::string_view service, std::string_view text);
/// The same with the fields of the event.
[[nodiscard]] std::string json_line(std::chrono::system_clock::time_point time, std::string_view service,
                                    const LogEvent& event);

}  // namespace udtcat::tool
