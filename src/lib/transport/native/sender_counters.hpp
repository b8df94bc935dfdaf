// SPDX-License-Identifier: Apache-2.0
/// Counters of a sender: packets, losses, and the time for which nothing left, by its reason.
#pragma once

#include <cstdint>
#include <optional>

#include <udtcat/stats.hpp>

#include "lib/core/stats_clocks.hpp"
#include "lib/transport/native/loss_by_rate.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

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
    if (with_queue) ++queued_lost_;
    loss_by_rate_.on_lost(sent_at, with_queue);
  }
  void on_new_path() { ++path_changes_; }
  /// From now on nothing leaves for that reason; none: there is nothing to send.
  void set_stall_reason(TimePoint now, std::optional<StallReason> why) { stall_clock_.set(now, why); }

  [[nodiscard]] const TransportStats& stats() const { return stats_; }
  /// loss_known   after so long every loss has been found
  void add_to(EndStats& end, TimePoint now, Duration loss_known) const {
    stall_clock_.add_to(end, now);
    end.packets_sent = stats_.packets_sent;
    end.packets_lost = stats_.packets_lost;
    end.queued_lost = queued_lost_;
    const LossByRateMeter::Sums losses = loss_by_rate_.sums(now, loss_known);
    end.loss_by_rate = losses.all;
    end.loss_behind_loss = losses.behind_loss;
    end.path_changes = path_changes_;
  }

 private:
  TransportStats stats_;
  std::uint64_t queued_lost_ = 0;  // of those lost, found so while the smoothed round trip showed a queue
  std::uint64_t path_changes_ = 0;
  core::StallClock stall_clock_;
  LossByRateMeter loss_by_rate_;
};

}  // namespace udtcat::transport::native
