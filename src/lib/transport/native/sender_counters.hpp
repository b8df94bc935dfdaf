// SPDX-License-Identifier: Apache-2.0
/// What a sender counts: packets, losses, and the time for which nothing left, by its reason.
#pragma once

#include <cstdint>
#include <optional>

#include <udtcat/evidence.hpp>

#include "lib/core/evidence_clocks.hpp"
#include "lib/transport/native/loss_by_rate.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

struct SenderStats {
  std::uint64_t packets_sent = 0;  ///< also those sent again
  std::uint64_t packets_lost = 0;
  std::uint64_t packets_resent = 0;
  std::uint64_t queued_lost = 0;  ///< of packets_lost, found so while the smoothed round trip showed a queue
};

/// Threads: unsynchronised; time is a parameter.
class SenderCounters {
 public:
  void on_sent(TimePoint now, bool again) {
    ++stats_.packets_sent;
    if (again) ++stats_.packets_resent;
    loss_by_rate_.on_sent(now);
  }
  /// with_queue   the smoothed round trip showed a queue
  void on_lost(TimePoint sent_at, bool with_queue) {
    ++stats_.packets_lost;
    if (with_queue) ++stats_.queued_lost;
    loss_by_rate_.on_lost(sent_at, with_queue);
  }
  void on_new_path() { ++path_changes_; }
  /// From now on nothing leaves for that reason; none: there is nothing to send.
  void on_hold(TimePoint now, std::optional<Hold> why) { hold_.hold(now, why); }

  [[nodiscard]] const SenderStats& stats() const { return stats_; }
  /// loss_known   after so long every loss has been found
  void add_to(EndEvidence& evidence, TimePoint now, Duration loss_known) const {
    hold_.add_to(evidence, now);
    evidence.packets_sent = stats_.packets_sent;
    evidence.packets_lost = stats_.packets_lost;
    evidence.queued_lost = stats_.queued_lost;
    const LossByRateMeter::Sums losses = loss_by_rate_.sums(now, loss_known);
    evidence.loss_by_rate = losses.all;
    evidence.loss_behind_loss = losses.behind_loss;
    evidence.path_changes = path_changes_;
  }

 private:
  SenderStats stats_;
  std::uint64_t path_changes_ = 0;
  core::HoldClock hold_;
  LossByRateMeter loss_by_rate_;
};

}  // namespace udtcat::transport::native
