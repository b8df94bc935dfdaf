// SPDX-License-Identifier: Apache-2.0
/// UDT's own congestion control: a rate that grows with the unused capacity, and falls by a ninth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

/// UDT's native control, in packets and packets a second, as its equations are.
///
///   slow start ──loss or timeout──► rate control
///
/// Deviates from libudt: after a loss before the first reported rate, slow start ends with the rate of the window, not
/// with 16 packets a second; whether a loss begins an epoch is said by LossEvent, not by the first word of a NAK.
/// source: draft-gg-udt, "UDT's Native Control Algorithm"
/// Threads: unsynchronised; time is a parameter.
class UdtRateLaw final : public CongestionControl {
 public:
  UdtRateLaw(std::size_t payload_bytes, TimePoint now, std::uint32_t random_seed);

  void on_sent(TimePoint, std::uint64_t, std::uint64_t) override {}
  void on_ack(const AckEvent& event) override;
  void on_loss(const LossEvent& event) override;
  void on_timeout(TimePoint now) override;
  void on_packet_size(std::size_t payload_bytes) override { payload_bytes_ = payload_bytes; }

  [[nodiscard]] std::uint64_t window_bytes() const override;
  [[nodiscard]] BitRate path_rate() const override;
  [[nodiscard]] BitRate pacing_rate() const override;

 private:
  void measure(const AckEvent& event);
  void measure_ourselves(const AckEvent& event);
  void leave_slow_start();
  void increase();
  void decrease();
  void begin_loss_epoch();
  [[nodiscard]] double rate_of_window() const;
  [[nodiscard]] double growth_packets() const;

  std::size_t payload_bytes_;
  std::minstd_rand random_;
  SmoothedRtt rtt_;
  RoundTrips rounds_;

  bool slow_start_ = true;
  double window_packets_;
  double rate_ = 0;  // packets a second; not used in slow start
  TimePoint last_update_;

  double arrival_rate_ = 0;    // as the receiver reports it, smoothed; zero: not known
  double capacity_ = 0;        // of the link, smoothed; zero: not known
  RecentMax<double> fastest_;  // in place of capacity_, where the peer reports none

  bool lost_since_increase_ = false;
  double rate_before_decrease_ = 0;
  double mean_losses_ = 1;  // events in an epoch
  unsigned losses_ = 0;     // events in this epoch
  unsigned decreases_ = 0;  // in this epoch
  unsigned spacing_ = 1;    // events from one decrease to the next
};

}  // namespace udtcat::transport::native
