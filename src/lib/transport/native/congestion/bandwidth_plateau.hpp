/// Has the bandwidth stopped growing?
#pragma once

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/rate_math.hpp"

namespace udtcat::transport::native {

/// Three round trips without a quarter more: the pipe is full.
/// source: draft-ietf-ccwg-bbr, "Exiting Acceleration Based on Bandwidth Plateau"
/// Threads: unsynchronised.
class BandwidthPlateau {
 public:
  void on_sample(const RateSample& sample, bool round_start) {
    const auto bandwidth = BitRate::from_bytes_per(sample.delivered_bytes, sample.interval);
    if (reached_ || sample.app_limited) return;
    if (bandwidth >= scaled(base_, kGrowth)) return restart(bandwidth);
    if (round_start) reached_ = ++rounds_ >= kRounds;
  }
  /// Looks again, from `base` on.
  void restart(BitRate base) {
    base_ = base;
    rounds_ = 0;
    reached_ = false;
  }

  [[nodiscard]] bool reached() const { return reached_; }
  /// Round trips without much more so far.
  [[nodiscard]] unsigned rounds() const { return rounds_; }

 private:
  static constexpr double kGrowth = 1.25;  // spec: draft-ietf-ccwg-bbr, "BBRCheckFullBWReached"
  static constexpr unsigned kRounds = 3;   // spec: the same

  BitRate base_;
  unsigned rounds_ = 0;
  bool reached_ = false;
};

}  // namespace udtcat::transport::native
