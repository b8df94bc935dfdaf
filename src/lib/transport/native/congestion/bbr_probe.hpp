// SPDX-License-Identifier: Apache-2.0
/// The results of BBR's probes for bandwidth: is there more, where does the path overflow, which flows share it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

/// The pipe is full when the bandwidth has not grown by a quarter in three round trips.
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
  /// Begins anew, from `base` on.
  void restart(BitRate base) {
    base_ = base;
    rounds_ = 0;
    reached_ = false;
  }

  [[nodiscard]] bool reached() const { return reached_; }
  /// Round trips in a row without such growth.
  [[nodiscard]] unsigned rounds() const { return rounds_; }

 private:
  static constexpr double kGrowth = 1.25;  // spec: draft-ietf-ccwg-bbr, "BBRCheckFullBWReached"
  static constexpr unsigned kRounds = 3;   // spec: the same

  BitRate base_;
  unsigned rounds_ = 0;
  bool reached_ = false;
};

/// The most that was in flight without the path overflowing: unbounded until the startup or a probe overflows it; then
/// raised by the packet, faster with each round trip of a probe, and lowered where the queue overflows outside of one.
/// source: draft-ietf-ccwg-bbr, "BBR.inflight_longterm"
/// Threads: unsynchronised.
class InFlightCeiling {
 public:
  void set(std::uint64_t bytes) { bytes_ = bytes; }
  void start_probe() {
    probe_rounds_ = 0;
    yielded_ = false;
  }
  /// The queue overflowed outside of a probe: each flow that shares it takes less, once until the next probe.
  /// least_bytes   no less than that
  void yield(std::uint64_t least_bytes);
  /// A round trip of the probe begins: twice the packets of the last one will be added during it.
  void steepen(std::uint64_t window_bytes, std::size_t payload_bytes);
  void raise(std::uint64_t newly_delivered_bytes, std::size_t payload_bytes);

  [[nodiscard]] bool bounded() const { return bytes_ != kUnbounded; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// With headroom for other flows: for new ones, and more for those that are there.
  [[nodiscard]] std::uint64_t with_headroom(bool shared) const {
    return bounded() ? scaled(bytes_, shared ? kSharedHeadroom : kHeadroom) : kUnbounded;
  }

 private:
  // measured: ADR-0059: with 0.8 eight of ours stay uneven, with 0.9 nine CUBIC have less
  static constexpr double kYieldedCeiling = 0.85;
  static constexpr double kHeadroom = 0.85;  // spec: draft-ietf-ccwg-bbr, 1 - BBR.Headroom
  // measured: ADR-0059: alone it would cost 7 % of a path whose queue is a tenth of a product
  static constexpr double kSharedHeadroom = 0.75;

  std::uint64_t bytes_ = kUnbounded;
  unsigned probe_rounds_ = 0;
  bool yielded_ = false;
  std::uint64_t delivered_per_packet_ = kUnbounded;  // so much delivered raises the ceiling by one packet
  std::uint64_t delivered_bytes_ = 0;
};

/// Other flows in the same queue, by the results of this flow's probes and losses. Unlike the draft it tells three
/// cases apart (responsive and unresponsive: RFC 7567):
///
///   nobody         a probe gains nothing while a queue stands, and the queue goes when the probe ends
///   responsive     losses come now and then, and the queue shrinks after them: CUBIC and its like. Probes are short
///   unresponsive   losses go on whatever this flow does: BBRv1 and its like. They would take all that it gives up
///
/// Threads: unsynchronised.
class CompetingFlows {
 public:
  /// A round trip without a probe ended.
  /// overflow   packets were lost while a queue stood
  /// drained    the last probe is so long ago that its queue is gone
  void on_round_trip(bool overflow, bool drained);
  void on_probe_start(BitRate bandwidth) { before_probe_ = bandwidth; }
  void on_probe_end(BitRate bandwidth, bool queue_stands);
  /// This flow nearly stopped, and no queue was left: it may be alone.
  void on_empty_queue() { overflowing_ = 0; }

  /// The last probe gained although a queue stood: at the cost of another flow.
  [[nodiscard]] bool share_queue() const { return share_queue_; }
  [[nodiscard]] bool responsive() const;
  [[nodiscard]] bool unresponsive() const;
  /// As far as it is known.
  [[nodiscard]] bool anybody() const { return share_queue() || responsive() || unresponsive(); }

 private:
  double overflowing_ = 0;  // part of the recent round trips in which the queue overflowed
  unsigned quiet_rounds_ = 0;
  bool overflowed_ = false;  // ever
  bool share_queue_ = false;
  BitRate before_probe_;
};

}  // namespace udtcat::transport::native
