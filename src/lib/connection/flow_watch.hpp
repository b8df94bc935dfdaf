// SPDX-License-Identifier: Apache-2.0
/// Which flows are silent for longer than their paths explain. See docs/spec/record.md §5.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/session/flows.hpp"

namespace udtcat::connection {

inline constexpr auto kLeastFlowSilence = std::chrono::milliseconds(500);  // guess: above a host's pauses; bench/flows
inline constexpr int kFlowSilenceRtts = 4;  // guess: a lost answer, and the one that was sent again

/// A flow is silent where an answer is due, or the next record can come by it alone, and nothing comes for longer than
/// its path explains, while another flow went on; or for twice as long where an answer is due.
/// Threads: unsynchronised; time is a parameter.
class FlowWatch {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Call several times in kLeastFlowSilence.
  /// returns   the numbers of the flows that are silent now
  [[nodiscard]] std::vector<std::uint8_t> look(TimePoint now, std::span<const session::FlowProgress> flows);

 private:
  struct Seen {
    session::FlowProgress flow;
    TimePoint received_at;  // when more was, or nothing was awaited
    TimePoint went_on_at;   // when either grew
  };
  [[nodiscard]] Seen seen(TimePoint now, const session::FlowProgress& flow) const;

  std::vector<Seen> seen_;
};

}  // namespace udtcat::connection
