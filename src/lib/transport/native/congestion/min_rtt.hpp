/// The round trip of the empty path, as far as it is known.
#pragma once

#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// The least round trip time of the last ten seconds, and whether it is time to look for it again.
///
/// Deviates from the draft: a sample close to the minimum confirms it as one below does. A flow that drains its queue
/// once a cycle therefore never has to slow down to measure.
/// source: draft-ietf-ccwg-bbr, "BBR.min_rtt: Estimating Min RTT"
/// Threads: unsynchronised; time is a parameter.
class MinRtt {
 public:
  void update(TimePoint now, Duration rtt);
  /// Silence was no fault of the path's length: what is known stays good for another term.
  void confirm(TimePoint now);

  [[nodiscard]] std::optional<Duration> value() const { return least_.value; }
  /// None of the samples of the last five seconds came near the minimum, at the last update.
  [[nodiscard]] bool probe_due() const { return probe_due_; }

 private:
  struct Least {
    std::optional<Duration> value;
    TimePoint stamp;

    [[nodiscard]] bool expired(TimePoint now, Duration lifetime) const { return value && now > stamp + lifetime; }
    void offer(TimePoint now, Duration rtt);
  };

  Least recent_;  // decides when to probe
  Least least_;   // the answer; lives longer, so that a probe comes before it is forgotten
  bool probe_due_ = false;
};

}  // namespace udtcat::transport::native
