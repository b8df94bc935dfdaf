// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/stats_exchange.hpp"

#include "lib/core/stats_fields.hpp"

namespace udtcat::connection {

StatsExchange::StatsExchange(const session::Session& session, TimePoint now)
    : session_(session), made_at_(now), reported_at_(now) {
  session_.add_end_stats(at_start_);
}

EndStats StatsExchange::here(TimePoint now) const {
  if (last_here_) return *last_here_;
  EndStats end;
  session_.add_end_stats(end);
  // The sum of several threads falls when one ends.
  core::subtract(end.event_loop, at_start_.event_loop);
  core::subtract(end.cipher, at_start_.cipher);
  core::subtract(end.socket_drops, at_start_.socket_drops);
  end.elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now - made_at_);
  end.bytes_sent = bytes_sent_;
  end.bytes_received = bytes_received_;
  end.consuming = consuming_.sum(now);
  stall_clock_.add_to(end, now);
  return end;
}

void StatsExchange::add_to(ConnectionStats& stats, TimePoint now) const {
  stats.bytes_sent = bytes_sent_;
  stats.bytes_received = bytes_received_;
  stats.made_at = made_at_;
  stats.ends = {here(now), there_, there_before_};
}

/// An idle session tells nothing: only where something has moved, or waits for the other end.
std::optional<Report> StatsExchange::poll(TimePoint now, std::chrono::nanoseconds interval) {
  const std::uint64_t moved_bytes = bytes_sent_ + bytes_received_;
  const bool idles = moved_bytes == reported_bytes_ && stall_clock_.reason() != StallReason::credit;
  if (!session_.agreed().peer_takes_reports || idles || now - reported_at_ < interval) return std::nullopt;
  reported_at_ = now;
  reported_bytes_ = moved_bytes;
  return Report{here(now)};
}

}  // namespace udtcat::connection
