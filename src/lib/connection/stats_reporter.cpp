// SPDX-License-Identifier: Apache-2.0
// The evidence of a connection, and what the two ends tell each other of it.
#include <algorithm>
#include <utility>

#include "lib/connection/multiplexer.hpp"

namespace udtcat::connection {

namespace {

/// The sum of several threads falls when one ends.
ThreadTime grown(const ThreadTime& before, const ThreadTime& now) {
  return {now.had - std::min(before.had, now.had), now.waited - std::min(before.waited, now.waited)};
}

}  // namespace

/// Why no block follows the last one; none: the layer below has enough of them, and knows why.
std::optional<Hold> Multiplexer::hold(bool with_data) const {
  if (close_sent()) return std::nullopt;
  if (!session_->wants_block()) return session_->waits_for_lanes() ? std::optional(Hold::cipher) : std::nullopt;
  if (!with_data) return Hold::path;
  const MuxStream* only = streams_.size() == 1 ? streams_.begin()->second.stream.get() : nullptr;
  if (only != nullptr && only->is_receipted()) return std::nullopt;
  const bool all_said = only != nullptr && only->awaits_receipt();
  return starved_streams_ > 0 || all_said ? Hold::credit : Hold::source;
}

EndEvidence Multiplexer::evidence_here() const {
  if (last_here_) return *last_here_;
  EndEvidence evidence;
  session_->add_evidence(evidence);
  evidence.event_loop = grown(at_start_.event_loop, evidence.event_loop);
  evidence.cipher = grown(at_start_.cipher, evidence.cipher);
  evidence.socket_drops -= std::min(at_start_.socket_drops, evidence.socket_drops);
  evidence.elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now() - made_at_);
  evidence.bytes_sent = bytes_sent_;
  evidence.bytes_received = bytes_received_;
  evidence.consuming = consuming_.sum(now());
  hold_.add_to(evidence, now());
  return evidence;
}

void Multiplexer::take_report(const EndEvidence& evidence) { there_before_ = std::exchange(there_, evidence); }

/// Only where something has moved, or waits for the other end: an idle session says nothing of itself.
void Multiplexer::report_if_due(std::chrono::nanoseconds interval) {
  const std::uint64_t moved_bytes = bytes_sent_ + bytes_received_;
  const bool idles = moved_bytes == reported_bytes_ && hold_.why() != Hold::credit;
  if (!session_->agreed().peer_takes_reports || idles || now() - reported_at_ < interval) return;
  reported_at_ = now();
  reported_bytes_ = moved_bytes;
  send({kSessionStream, Report{evidence_here()}});
}

}  // namespace udtcat::connection
