// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/bbr_probe.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::transport::native {

namespace {

constexpr unsigned kMaxDoublings = 30;  // spec: draft-ietf-ccwg-bbr, "BBRRaiseInflightLongtermSlope"

// All measured on a simulated 1 Gbit/s, 20 ms, with a buffer of half to two bandwidth-delay products, next to CUBIC,
// BBRv1 and another of us for a minute (tests/lib/transport/native/congestion). Others around them give much the same.
// measured: BBRv1 overflows the queue in every eighth round trip, CUBIC in hundreds; ADR-0059: many of us in up to a
// tenth
constexpr double kUnresponsive = 0.1;
constexpr double kOverflowSmoothing = 1.0 / 64;  // measured: eight cycles of BBRv1
constexpr unsigned kQuietRounds = 500;           // measured: longer than CUBIC takes from one loss to the next
constexpr double kGainFromOthers = 1.04;         // measured: 1.02 to 1.07 make no difference; alone, it is below 1.01

}  // namespace

void InFlightCeiling::steepen(std::uint64_t window_bytes, std::size_t payload_bytes) {
  const std::uint64_t packets = std::uint64_t{1} << probe_rounds_;
  probe_rounds_ = std::min(probe_rounds_ + 1, kMaxDoublings);
  delivered_per_packet_ = std::max<std::uint64_t>(window_bytes / packets, payload_bytes);
  delivered_bytes_ = 0;
}

void InFlightCeiling::yield(std::uint64_t least_bytes) {
  if (!bounded() || std::exchange(yielded_, true)) return;
  bytes_ = std::max(scaled(bytes_, kYieldedCeiling), least_bytes);
}

void InFlightCeiling::raise(std::uint64_t newly_delivered_bytes, std::size_t payload_bytes) {
  delivered_bytes_ += newly_delivered_bytes;
  const auto packets = delivered_bytes_ / delivered_per_packet_;
  delivered_bytes_ -= packets * delivered_per_packet_;
  bytes_ += packets * payload_bytes;
}

void CompetingFlows::on_round_trip(bool overflow, bool drained) {
  quiet_rounds_ = overflow ? 0 : quiet_rounds_ + 1;
  overflowed_ = overflowed_ || (overflow && drained);
  if (drained || share_queue_ || unresponsive())
    overflowing_ += kOverflowSmoothing * ((overflow ? 1.0 : 0.0) - overflowing_);
}

void CompetingFlows::on_probe_end(BitRate bandwidth, bool queue_stands) {
  share_queue_ = queue_stands && bandwidth >= scaled(before_probe_, kGainFromOthers);
}

bool CompetingFlows::unresponsive() const { return overflowing_ > kUnresponsive; }

bool CompetingFlows::responsive() const { return overflowed_ && quiet_rounds_ < kQuietRounds && !unresponsive(); }

}  // namespace udtcat::transport::native
