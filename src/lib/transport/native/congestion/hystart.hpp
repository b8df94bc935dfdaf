/// Leaves slow start when round trips grow, before packets are lost.
#pragma once

#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// HyStart++.
///
///   exponential ──round trips grew──► careful ──five round trips──► done
///        ▲                               │
///        └──round trips shrank again─────┘
///
/// source: RFC 9406
/// Threads: unsynchronised.
class HyStart {
 public:
  /// What is added to the window for each byte delivered.
  [[nodiscard]] double growth() const;
  [[nodiscard]] bool done() const { return phase_ == Phase::done; }
  /// min_rtt   the least of the round trip that ended, if it had a sample
  void on_round_trip(std::optional<Duration> min_rtt);
  void on_loss() { phase_ = Phase::done; }
  /// A timeout begins slow start anew.
  void restart() { *this = HyStart{}; }

 private:
  enum class Phase { exponential, careful, done };

  Phase phase_ = Phase::exponential;
  unsigned careful_rounds_ = 0;
  std::optional<Duration> last_min_rtt_;
  Duration baseline_{0};  // the least of the round trip that looked too long
};

}  // namespace udtcat::transport::native
