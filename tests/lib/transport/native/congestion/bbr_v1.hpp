// SPDX-License-Identifier: Apache-2.0
/// BBR as Linux has it (tcp_bbr.c, version 1), as far as a rival goes: it heeds no loss.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>

#include "lib/transport/native/congestion/bbr_model.hpp"
#include "lib/transport/native/congestion/bbr_probe.hpp"
#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native::test {

class BbrV1 final : public CongestionControl {
 public:
  BbrV1(std::size_t payload_bytes, std::uint32_t random_seed)
      : payload_bytes_(payload_bytes), random_(random_seed), window_bytes_(10 * payload_bytes) {}

  void on_sent(TimePoint, std::uint64_t, std::uint64_t) override {}
  void on_loss(const LossEvent&) override { lost_ = true; }
  void on_timeout(TimePoint) override { window_bytes_ = 4 * payload_bytes_; }
  void on_packet_size(std::size_t) override {}
  [[nodiscard]] std::uint64_t window_bytes() const override { return window_bytes_; }
  [[nodiscard]] BitRate pacing_rate() const override { return pacing_; }

  void on_ack(const AckEvent& ack) override {
    if (!ack.rate || !ack.rtt) return;
    const bool round_start = rounds_.on_ack(ack);
    update_bandwidth(*ack.rate);
    plateau_.on_sample(*ack.rate, round_start);
    if (round_start) aggregation_.on_round_trip(false);
    aggregation_.on_ack(ack.now, ack.newly_delivered_bytes, bandwidth_, window_bytes_);
    advance(ack);
    if (round_start) lost_ = false;
    update_min_rtt(ack);
    update_outputs(ack);
  }

 private:
  enum class State { startup, drain, probe_bandwidth, probe_rtt };

  void update_bandwidth(const RateSample& sample) {
    const auto rate = BitRate::from_bytes_per(sample.delivered_bytes, sample.interval);
    while (!samples_.empty() && samples_.back().second <= rate) samples_.pop_back();
    samples_.emplace_back(rounds_.count(), rate);
    while (samples_.front().first + 10 < rounds_.count()) samples_.pop_front();
    bandwidth_ = samples_.front().second;
  }

  void advance(const AckEvent& ack) {
    if (state_ == State::startup && plateau_.reached()) state_ = State::drain;
    if (state_ == State::drain && ack.in_flight_bytes <= bdp()) enter_probe_bandwidth(ack.now);
    if (state_ != State::probe_bandwidth) return;
    const auto in_flight = ack.in_flight_bytes + ack.newly_delivered_bytes;
    bool next = ack.now - phase_start_ > min_rtt_;
    if (phase_ == 0) next = next && (lost_ || in_flight >= scaled(bdp(), 1.25));
    if (phase_ == 1) next = next || in_flight <= bdp();
    if (!next) return;
    phase_ = (phase_ + 1) % 8;
    phase_start_ = ack.now;
  }

  void enter_probe_bandwidth(TimePoint now) {
    state_ = State::probe_bandwidth;
    phase_ = (8 - static_cast<unsigned>(random_() % 7)) % 8;
    phase_start_ = now;
  }

  void update_min_rtt(const AckEvent& ack) {
    const bool expired = min_rtt_ > Duration{0} && ack.now > min_rtt_stamp_ + std::chrono::seconds(10);
    if (min_rtt_ == Duration{0} || *ack.rtt <= min_rtt_ || expired) {
      min_rtt_ = *ack.rtt;
      min_rtt_stamp_ = ack.now;
    }
    if (expired && state_ != State::probe_rtt) {
      state_ = State::probe_rtt;
      saved_window_bytes_ = window_bytes_;
      probe_rtt_end_ = TimePoint::max();
    }
    if (state_ != State::probe_rtt) return;
    if (probe_rtt_end_ == TimePoint::max() && ack.in_flight_bytes <= 4 * payload_bytes_)
      probe_rtt_end_ = ack.now + std::chrono::milliseconds(200) + min_rtt_;
    if (ack.now < probe_rtt_end_) return;
    min_rtt_stamp_ = ack.now;
    window_bytes_ = saved_window_bytes_;
    enter_probe_bandwidth(ack.now);
  }

  void update_outputs(const AckEvent& ack) {
    const auto rate = scaled(bandwidth_, gain() * 0.99);
    if (plateau_.reached() || rate > pacing_) pacing_ = rate;
    const bool starting = state_ == State::startup || state_ == State::drain;
    const auto quanta = 3 * std::min<std::uint64_t>(64 * kKiB, bytes_during(pacing_, std::chrono::milliseconds(1)));
    const auto most = scaled(bdp(), starting ? kHighGain : 2) + quanta + aggregation_.extra_bytes();
    window_bytes_ += ack.newly_delivered_bytes;
    if (plateau_.reached()) window_bytes_ = std::min(window_bytes_, most);
    window_bytes_ = std::max<std::uint64_t>(window_bytes_, 4 * payload_bytes_);
    if (state_ == State::probe_rtt) window_bytes_ = 4 * payload_bytes_;
  }

  [[nodiscard]] double gain() const {
    if (state_ == State::startup) return kHighGain;
    if (state_ == State::drain) return 1 / kHighGain;
    if (state_ == State::probe_rtt || phase_ > 1) return 1;
    return phase_ == 0 ? 1.25 : 0.75;
  }

  [[nodiscard]] std::uint64_t bdp() const { return bytes_during(bandwidth_, min_rtt_); }

  static constexpr double kHighGain = 2.885;

  std::size_t payload_bytes_;
  std::minstd_rand random_;
  RoundTrips rounds_;
  BandwidthPlateau plateau_;
  AckAggregation aggregation_;
  std::deque<std::pair<std::uint64_t, BitRate>> samples_;  // of ten round trips, falling
  State state_ = State::startup;
  BitRate bandwidth_;
  BitRate pacing_;
  Duration min_rtt_{0};
  TimePoint min_rtt_stamp_;
  TimePoint phase_start_;
  TimePoint probe_rtt_end_ = TimePoint::max();
  unsigned phase_ = 0;
  bool lost_ = false;
  std::uint64_t window_bytes_;
  std::uint64_t saved_window_bytes_ = 0;
};

}  // namespace udtcat::transport::native::test
