/// How much more than the path's rate arrives at once, because the receiver acknowledges in batches.
#pragma once

#include <cstdint>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/recent_max.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// What must be in flight beyond the bandwidth-delay product so that the path stays busy between two batches.
/// source: draft-ietf-ccwg-bbr, "BBR.extra_acked: Estimating the ACK Aggregation"
/// Threads: unsynchronised; time is a parameter.
class AckAggregation {
 public:
  /// bandwidth      what the path is thought to carry
  /// window_bytes   one batch cannot be larger
  void on_ack(TimePoint now, std::uint64_t newly_delivered_bytes, BitRate bandwidth, std::uint64_t window_bytes);
  void on_round_trip(bool starting);
  /// Nothing was in flight: the time that passed says nothing of batches.
  void restart(TimePoint now);

  [[nodiscard]] std::uint64_t extra_bytes() const { return extra_.value(); }

 private:
  TimePoint interval_start_;
  std::uint64_t interval_delivered_bytes_ = 0;
  RecentMax<std::uint64_t> extra_;
  unsigned rounds_ = 0;  // of the filter's present period
};

}  // namespace udtcat::transport::native
