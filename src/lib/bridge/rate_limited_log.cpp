// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/rate_limited_log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "lib/core/user_text.hpp"

namespace udtcat::bridge {
namespace {

using Clock = std::chrono::steady_clock;

/// The cause is a text by the time a stream has ended; these are the texts of a consumer or producer that hung up, in
/// our spelling and in the C library's.
bool is_plain_disconnect(const std::string& cause) {
  constexpr std::array kDisconnects{EPIPE, ECONNRESET, ENOTCONN};
  return std::any_of(kDisconnects.begin(), kDisconnects.end(), [&](int error) {
    return cause == core::errno_text(error) || cause == std::generic_category().message(error);
  });
}

Error standing_for(const Error& error, std::size_t count) {
  const std::string cause = error.cause.empty() ? make_error_code(error.code).message() : error.cause;
  return {error.code, error.what, fmt::format("{} ({} more like it)", cause, count)};
}

}  // namespace

std::optional<LogRateLimit::Line> LogRateLimit::add(const Endpoint& where, const Error& error, TimePoint now) {
  std::string name = kind_of_(error);
  const auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return kind.name == name; });
  if (known != kinds_.end()) {
    if (known->counted > 0 || now - known->told_at < kLogInterval) {
      known->latest = {where, error};
      if (known->counted == 0 && known->told_at_once < most_at_once_) {
        ++known->told_at_once;
        return Line{where, error};
      }
      ++known->counted;
      return std::nullopt;
    }
    kinds_.erase(known);  // quiet for an interval: it is told anew
  }
  make_room(now);
  kinds_.push_back({{where, error}, std::move(name), now});
  return Line{where, error};
}

std::vector<LogRateLimit::Line> LogRateLimit::take_due(TimePoint now) {
  std::vector<Line> lines;
  for (Kind& kind : kinds_) {
    if (kind.counted == 0 || now - kind.told_at < kLogInterval) continue;
    lines.push_back({kind.latest.where, standing_for(kind.latest.error, std::exchange(kind.counted, 0))});
    kind.told_at = now;
  }
  std::stable_sort(kinds_.begin(), kinds_.end(), [](const Kind& a, const Kind& b) { return a.told_at < b.told_at; });
  return lines;
}

std::optional<LogRateLimit::TimePoint> LogRateLimit::next_due() const {
  const auto counted = std::find_if(kinds_.begin(), kinds_.end(), [](const Kind& kind) { return kind.counted > 0; });
  if (counted == kinds_.end()) return std::nullopt;
  return counted->told_at + kLogInterval;
}

void LogRateLimit::make_room(TimePoint now) {
  std::erase_if(kinds_, [now](const Kind& kind) { return kind.counted == 0 && now - kind.told_at >= kLogInterval; });
  if (kinds_.size() == kMaxLogKinds) kinds_.erase(kinds_.begin());
}

RateLimitedLog::RateLimitedLog(boost::asio::io_context& io, Handler handler, LogRateLimit::KindOf kind_of,
                               std::size_t most_at_once)
    : limit_(std::move(kind_of), most_at_once), handler_(std::move(handler)), timer_(io) {}

void RateLimitedLog::report(const Endpoint& where, const Error& error) {
  const std::optional<LogRateLimit::Line> line = limit_.add(where, error, Clock::now());
  if (!line) return set_timer();
  handler_(line->where, line->error);
}

void RateLimitedLog::set_timer() {
  const std::optional<Clock::time_point> due = limit_.next_due();
  if (!due || timer_.expiry() == *due) return;  // none, or set already
  timer_.expires_at(*due);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
    if (error) return;  // set to another time
    for (const LogRateLimit::Line& line : limit_.take_due(Clock::now())) handler_(line.where, line.error);
    set_timer();
  }));
}

bool is_loggable(const Error& stream_error) {
  switch (stream_error.code) {
    case Errc::local_read_failed:
    case Errc::local_write_failed:
      return !is_plain_disconnect(stream_error.cause);
    case Errc::local_connect_failed:
    case Errc::remote_connect_failed:
    case Errc::stream_refused:
    case Errc::out_of_resources:
      return true;
    default:
      return false;
  }
}

}  // namespace udtcat::bridge
