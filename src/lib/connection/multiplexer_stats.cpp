// SPDX-License-Identifier: Apache-2.0
// The statistics of a connection, and what the two ends tell each other of them.
#include <utility>

#include "lib/connection/multiplexer.hpp"
#include "lib/core/stats_fields.hpp"

namespace udtcat::connection {

/// Why no block follows the last one; none: the layer below has enough of them, and knows why.
std::optional<StallReason> Multiplexer::stall_reason(bool with_data) const {
  if (close_sent()) return std::nullopt;
  if (!session_->wants_block()) return session_->waits_for_lanes() ? std::optional(StallReason::cipher) : std::nullopt;
  if (!with_data) return StallReason::path;
  const MuxStream* only = streams_.size() == 1 ? streams_.begin()->second.stream.get() : nullptr;
  if (only != nullptr && only->is_receipted()) return std::nullopt;
  const bool all_said = only != nullptr && only->awaits_receipt();
  return starved_streams_ > 0 || all_said ? StallReason::credit : StallReason::source;
}

EndStats Multiplexer::stats_here() const {
  if (last_here_) return *last_here_;
  EndStats end;
  session_->add_end_stats(end);
  // The sum of several threads falls when one ends.
  core::subtract(end.event_loop, at_start_.event_loop);
  core::subtract(end.cipher, at_start_.cipher);
  core::subtract(end.socket_drops, at_start_.socket_drops);
  end.elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now() - made_at_);
  end.bytes_sent = bytes_sent_;
  end.bytes_received = bytes_received_;
  end.consuming = consuming_.sum(now());
  stall_clock_.add_to(end, now());
  return end;
}

void Multiplexer::take_report(const EndStats& there) { there_before_ = std::exchange(there_, there); }

/// Only where something has moved, or waits for the other end: an idle session says nothing of itself.
void Multiplexer::report_if_due(std::chrono::nanoseconds interval) {
  const std::uint64_t moved_bytes = bytes_sent_ + bytes_received_;
  const bool idles = moved_bytes == reported_bytes_ && stall_clock_.reason() != StallReason::credit;
  if (!session_->agreed().peer_takes_reports || idles || now() - reported_at_ < interval) return;
  reported_at_ = now();
  reported_bytes_ = moved_bytes;
  send({kSessionStream, Report{stats_here()}});
}

}  // namespace udtcat::connection
