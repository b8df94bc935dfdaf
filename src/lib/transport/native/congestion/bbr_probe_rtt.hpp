// SPDX-License-Identifier: Apache-2.0
/// When to look for the round trip of the empty path: at moments that all flows of a host have in common.
#pragma once

#include <cstdint>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A queue that flows share empties only if all of them stop at once. These do so by their host's clock, without a word
/// to each other.
///
/// Deviates from the draft, where each flow counts five seconds from its own last minimum.
/// source: draft-ietf-ccwg-bbr, "ProbeRTT"; ADR-0059
/// Threads: unsynchronised; time is a parameter.
class ProbeRttMoments {
 public:
  /// Such a moment has come since the last call, and it is worth to stop.
  /// unconfirmed   so long no sample came near the minimum
  /// doubtful      it may be that of a full queue, however often it is confirmed
  [[nodiscard]] bool due(TimePoint now, Duration unconfirmed, bool doubtful);
  /// We stop, and go on again.
  /// queue   whether one stood. If it is left at the end, others are in it that do not stop, and it costs us more than
  ///         it shows
  void on_begin(bool queue) { queue_before_ = queue; }
  void on_end(bool queue) { queue_left_ = queue; }
  /// A queue was there, and all who had something in it stopped: they are of our kind, and do now what we do.
  [[nodiscard]] bool queue_was_ours() const { return queue_before_ && !queue_left_; }

 private:
  std::int64_t last_ = 0;
  std::int64_t last_doubtful_ = 0;
  bool queue_before_ = false;
  bool queue_left_ = false;
};

}  // namespace udtcat::transport::native
