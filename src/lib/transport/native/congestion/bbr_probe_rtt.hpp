// SPDX-License-Identifier: Apache-2.0
/// When to probe the minimum round trip: at moments that all flows of a host have in common.
#pragma once

#include <cstdint>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A queue that flows share drains only if all of them stop at the same time: the flows of a host do, by its clock.
///
/// Deviates from the draft, where each flow counts five seconds from its own last minimum.
/// source: draft-ietf-ccwg-bbr, "ProbeRTT"; ADR-0059
/// Threads: unsynchronised; time is a parameter.
class ProbeRttSchedule {
 public:
  /// Whether such a moment has come since the last call, and the flow is to stop.
  /// unconfirmed   for how long no sample was near the minimum
  /// doubtful      the minimum may be that of a full queue, however often it is confirmed
  [[nodiscard]] bool due(TimePoint now, Duration unconfirmed, bool doubtful);
  /// This flow stops, or goes on.
  /// queue   whether one stands. Where it does at the end, there are flows that did not stop: this one then stops less
  ///         often
  void on_begin(bool queue) { queue_before_ = queue; }
  void on_end(bool queue) { queue_left_ = queue; }
  /// The queue has drained: all flows in it stop at these moments.
  [[nodiscard]] bool queue_was_ours() const { return queue_before_ && !queue_left_; }

 private:
  std::int64_t last_ = 0;
  std::int64_t last_doubtful_ = 0;
  bool queue_before_ = false;
  bool queue_left_ = false;
};

}  // namespace udtcat::transport::native
