// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/stats_exchange.hpp"

#include <algorithm>

namespace udtcat::connection {

namespace {

/// The sum of several threads falls when one ends.
ThreadTime grown(const ThreadTime& before, const ThreadTime& now) {
  return {now.had - std::min(before.had, now.had), now.waited - std::min(before.waited, now.waited)};
}

}  // namespace

StatsExchange::StatsExchange(const session::Session& session, TimePoint now)
    : session_(session), made_at_(now), reported_at_(now) {
  session_.add_evidence(at_start_);
}

EndEvidence StatsExchange::here(TimePoint now) const {
  if (last_here_) return *last_here_;
  EndEvidence evidence;
  session_.add_evidence(evidence);
  evidence.event_loop = grown(at_start_.event_loop, evidence.event_loop);
  evidence.cipher = grown(at_start_.cipher, evidence.cipher);
  evidence.socket_drops -= std::min(at_start_.socket_drops, evidence.socket_drops);
  evidence.elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now - made_at_);
  evidence.bytes_sent = bytes_sent_;
  evidence.bytes_received = bytes_received_;
  evidence.consuming = consuming_.sum(now);
  hold_.add_to(evidence, now);
  return evidence;
}

void StatsExchange::add_to(ConnectionStats& stats, TimePoint now) const {
  stats.bytes_sent = bytes_sent_;
  stats.bytes_received = bytes_received_;
  stats.made_at = made_at_;
  stats.evidence = {here(now), there_, there_before_};
}

/// An idle session tells nothing: only where something has moved, or waits for the other end.
std::optional<Report> StatsExchange::poll(TimePoint now, std::chrono::nanoseconds interval) {
  const std::uint64_t moved_bytes = bytes_sent_ + bytes_received_;
  const bool idles = moved_bytes == reported_bytes_ && hold_.why() != Hold::credit;
  if (!session_.agreed().peer_takes_reports || idles || now - reported_at_ < interval) return std::nullopt;
  reported_at_ = now;
  reported_bytes_ = moved_bytes;
  return Report{here(now)};
}

}  // namespace udtcat::connection
