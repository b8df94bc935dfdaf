// SPDX-License-Identifier: Apache-2.0
/// Estimates of the path by the peer's answers: round trips, queues on either way, the time of a packet on the wire.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <udtcat/units.hpp>

#include "lib/transport/native/acknowledgement.hpp"
#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/reverse_path_delay.hpp"
#include "lib/transport/native/rtt.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A round trip of packets so small that the length of the path is nearly all of it: of a handshake, of an ACK and its
/// ACK2, or of an MTU probe without padding.
struct SmallRtt {
  Duration value;
  std::size_t bytes = 0;  ///< of both packets, on the wire
};

/// `path_rate` is what congestion control has found that the path carries; zero: not found yet.
/// Threads: unsynchronised; time is a parameter.
class PathEstimator {
 public:
  PathEstimator() = default;
  explicit PathEstimator(TimePoint begins_at) : begins_at_(begins_at) {}

  /// Whether what left at `sent_at` went by this path, and tells of it.
  [[nodiscard]] bool has_carried(TimePoint sent_at) const { return sent_at >= begins_at_; }
  void on_rtt(Duration sample) { rtt_.on_sample(sample); }
  /// Taken as the first sample only: a later one, of data, is worth more.  returns   whether it was
  bool on_small_rtt(TimePoint now, const SmallRtt& rtt);
  /// now_us   by the clock of our timestamps
  void on_report(TimePoint now, std::uint32_t now_us, const ExtendedReport& report);
  /// A packet of so many bytes of payload was the newest that an ACK spoke of.
  void on_answered(std::size_t bytes) { largest_answered_bytes_ = std::max(largest_answered_bytes_, bytes); }
  /// The first sample that counts has as much to send as the path takes.
  void on_rate(const RateSample& sample);

  [[nodiscard]] const RttEstimator& rtt() const { return rtt_; }
  /// The smoothed round trip is so much longer than the least that data wait in a queue.
  [[nodiscard]] bool rtt_shows_queue() const;
  /// The latest round trip without the queue that its ACK met on the way back.
  [[nodiscard]] Duration forward_rtt() const {
    return std::max(rtt_.latest() - reverse_delay_.value(), *rtt_.minimum());
  }
  /// Of the bytes in flight, those that have arrived and whose ACKs wait in a queue on the way back.
  [[nodiscard]] std::uint64_t arrived_unheard_bytes(BitRate path_rate) const;

  /// By when the answer to what leaves now is late.
  [[nodiscard]] Duration answer_time(BitRate path_rate, std::size_t payload_bytes, std::size_t newest_bytes) const;
  /// The time of a packet on the wire, at the rate that the path has shown.
  [[nodiscard]] Duration wire_time(BitRate path_rate, std::size_t bytes) const;
  /// The longest that a packet may take on the wire, as far as it is known.
  [[nodiscard]] Duration most_wire_time(BitRate path_rate, std::size_t bytes) const;

 private:
  [[nodiscard]] BitRate shown_rate(BitRate path_rate) const {
    return path_rate.bytes_per_second() > 0 ? path_rate : best_rate_;
  }
  [[nodiscard]] Duration share_of_rtt(std::size_t bytes) const;

  TimePoint begins_at_;  // before all packets, where it is the first path
  RttEstimator rtt_;
  ReversePathDelay reverse_delay_;
  BitRate best_rate_;                       // of all samples; zero: none with enough to send
  std::size_t largest_answered_bytes_ = 0;  // of payload
};

}  // namespace udtcat::transport::native
