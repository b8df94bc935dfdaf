/// What BBR believes of the path: how fast, how long, and how much of loss is congestion.
#pragma once

#include <cstddef>
#include <cstdint>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/ack_aggregation.hpp"
#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/min_rtt.hpp"
#include "lib/transport/native/congestion/rate_math.hpp"
#include "lib/transport/native/congestion/recent_max.hpp"
#include "lib/transport/native/congestion/round_trips.hpp"

namespace udtcat::transport::native {

/// The model of the path, and the two bounds that congestion puts on it until the next probe.
///
/// Deviates from the draft in what it takes for congestion. There, two percent of loss in a probe and any loss outside of
/// one are. Here, losses that come with a standing queue are; without a queue it takes a share of loss that only an
/// overflowing shallow buffer has. So random losses leave the rate alone, and a full drop-tail queue does not. And what the
/// path loses at random is sent on top of what it delivers, which would otherwise sink from cycle to cycle.
/// source: draft-ietf-ccwg-bbr, "Updating Model Parameters"
/// Threads: unsynchronised; time is a parameter.
class BbrModel {
 public:
  explicit BbrModel(std::size_t payload_bytes) : payload_bytes_(payload_bytes) {}

  struct Phase {
    bool starting = false;         ///< the pipe has not been full yet
    bool own_queue = false;        ///< what stands in the queue may be what we put there: bounds are not lowered
    bool cruising = false;         ///< sending what the path is known to carry
    bool heedless_rivals = false;  ///< who do not give way, so that a queue is no reason to
  };
  /// Whether a new round trip begins with this ACK.
  [[nodiscard]] bool on_ack(const AckEvent& ack, Phase phase, std::uint64_t window_bytes);
  void on_loss(std::uint64_t lost_bytes) { rounds_.on_loss(lost_bytes); }
  void on_packet_size(std::size_t payload_bytes) { payload_bytes_ = payload_bytes; }
  /// There was nothing to send, and nothing is in flight.
  void on_idle(TimePoint now) { aggregation_.restart(now); }
  /// Nothing got through for a while. Path and bandwidth are remembered.
  void on_silence(TimePoint now);

  void restart_round() { rounds_.restart(); }
  void end_bandwidth_cycle() { max_bandwidth_.advance(); }
  void forget_short_term();

  [[nodiscard]] BitRate max_bandwidth() const { return max_bandwidth_.value(); }
  [[nodiscard]] BitRate bandwidth() const { return std::min(max_bandwidth(), short_term_bandwidth_); }
  /// What must be sent for `delivered` to arrive.
  [[nodiscard]] BitRate sent_for(BitRate delivered) const { return scaled(delivered, 1 / (1 - path_loss_)); }
  [[nodiscard]] std::uint64_t short_term_bytes() const { return short_term_bytes_; }
  [[nodiscard]] std::uint64_t extra_acked_bytes() const;
  [[nodiscard]] const MinRtt& min_rtt() const { return min_rtt_; }
  [[nodiscard]] const RoundTrip& last_round() const { return rounds_.last(); }
  /// The hosts take longer than the way between them: see bdp_bytes().
  [[nodiscard]] bool host_bound() const;

  /// Zero without a sample.
  [[nodiscard]] std::uint64_t bdp_bytes(BitRate bandwidth) const;
  /// More of the flight of this sample was lost than the path loses by itself.
  [[nodiscard]] bool in_flight_too_high(const RateSample& sample) const;
  /// So much of the last round trip was lost that it takes no queue to see why.
  [[nodiscard]] bool overwhelmed() const;
  /// Even the quickest of the recent packets waited on their way.
  [[nodiscard]] bool queue_stands() const;
  /// In this very round trip, by enough samples, whatever the last one was like.
  [[nodiscard]] bool queue_builds() const;
  /// Packets of the last round trip were lost while a queue stood.
  [[nodiscard]] bool queue_overflowed() const { return queue_stands() && rounds_.last().lost_bytes > 0; }

 private:
  [[nodiscard]] bool queued(std::optional<Duration> rtt) const;
  [[nodiscard]] bool congestion(std::uint64_t lost_bytes, std::uint64_t of_bytes) const;
  void on_round_trip(std::uint64_t window_bytes);
  void update_bandwidth(const RateSample& sample);
  void lower_short_term(std::uint64_t window_bytes);

  std::size_t payload_bytes_;
  RoundTrips rounds_;
  MinRtt min_rtt_;
  AckAggregation aggregation_;
  RecentMax<BitRate> max_bandwidth_;
  Phase phase_;           // at the last ACK
  double path_loss_ = 0;  // what is lost without a queue
  BitRate short_term_bandwidth_ = BitRate::from_bits_per_second(kUnbounded);
  std::uint64_t short_term_bytes_ = kUnbounded;
};

}  // namespace udtcat::transport::native
