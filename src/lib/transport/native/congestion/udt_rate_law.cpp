// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/udt_rate_law.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr double kWindowMargin = 16;           // spec: draft-gg-udt, "UDT's Native Control Algorithm"; packets
constexpr double kDecrease = 1.125;            // spec: the same
constexpr unsigned kMaxDecreases = 5;          // spec: the same, in one epoch
constexpr double kIncreasePerPacket = 1.5e-6;  // spec: the same
constexpr double kLeastGrowth = 0.01;          // spec: libudt 4.11, packets in 10 ms; the draft says one byte
constexpr double kCapacityShare = 1.0 / 9;     // spec: libudt 4.11, after a decrease
constexpr double kSmoothing = 1.0 / 8;         // spec: draft-gg-udt, the same
constexpr double kLossSmoothing = 1.0 / 8;     // spec: the same
constexpr double kSlowStartPacingGain = 2;     // guess: lets the window double without sending it as one burst

void smooth(double& mean, double sample) { mean = mean == 0 ? sample : mean + kSmoothing * (sample - mean); }

}  // namespace

UdtRateLaw::UdtRateLaw(std::size_t payload_bytes, TimePoint now, std::uint32_t random_seed)
    : payload_bytes_(payload_bytes), random_(random_seed), window_packets_(kInitialWindowPackets), last_update_(now) {}

void UdtRateLaw::on_ack(const AckEvent& event) {
  if (event.rtt) rtt_.update(*event.rtt);
  measure(event);
  const double delivered_packets =
      static_cast<double>(event.newly_delivered_bytes) / static_cast<double>(payload_bytes_);
  if (slow_start_) {
    window_packets_ += delivered_packets;
    return;
  }
  if (event.now < last_update_ + kSyn) return;
  last_update_ = event.now;
  const double span = seconds_of(rtt_.value().value_or(kSyn) + kSyn);
  window_packets_ = std::max(arrival_rate_, rate_) * span + kWindowMargin;
  if (!lost_since_increase_) increase();
  lost_since_increase_ = false;
}

void UdtRateLaw::measure(const AckEvent& event) {
  const bool peer_tells = event.peer_rate_packets.value_or(0) > 0 && event.peer_capacity_packets.value_or(0) > 0;
  if (!peer_tells) return measure_ourselves(event);
  smooth(arrival_rate_, *event.peer_rate_packets);
  smooth(capacity_, *event.peer_capacity_packets);
}

void UdtRateLaw::measure_ourselves(const AckEvent& event) {
  if (!event.rate || event.rate->app_limited) return;
  if (rounds_.on_ack(event)) fastest_.advance();
  const auto bandwidth = BitRate::from_bytes_per(event.rate->delivered_bytes, event.rate->interval);
  const double packets = static_cast<double>(bandwidth.bytes_per_second()) / static_cast<double>(payload_bytes_);
  smooth(arrival_rate_, packets);
  fastest_.update(packets);
  capacity_ = std::max(capacity_, fastest_.value());
}

void UdtRateLaw::on_loss(const LossEvent& event) {
  lost_since_increase_ = true;
  // The loss that ends slow start causes no decrease: the rate is the reported arrival rate.
  if (slow_start_) return leave_slow_start();
  if (event.new_epoch) return begin_loss_epoch();
  if (decreases_ < kMaxDecreases && ++losses_ % spacing_ == 0) decrease();
}

void UdtRateLaw::begin_loss_epoch() {
  mean_losses_ += kLossSmoothing * (losses_ - mean_losses_);
  losses_ = 1;
  decreases_ = 0;
  // Random: flows that lose together must not slow down together.
  spacing_ = 1 + static_cast<unsigned>(random_() % static_cast<unsigned>(std::ceil(std::max(mean_losses_, 1.0))));
  rate_before_decrease_ = rate_;
  decrease();
}

void UdtRateLaw::decrease() {
  ++decreases_;
  rate_ /= kDecrease;
}

void UdtRateLaw::on_timeout(TimePoint) {
  if (slow_start_) leave_slow_start();
}

void UdtRateLaw::leave_slow_start() {
  slow_start_ = false;
  rate_ = arrival_rate_ > 0 ? arrival_rate_ : rate_of_window();
  rate_before_decrease_ = rate_;
}

double UdtRateLaw::rate_of_window() const {
  return window_packets_ / seconds_of(rtt_.value().value_or(Duration{0}) + kSyn);
}

void UdtRateLaw::increase() { rate_ += growth_packets() / seconds_of(kSyn); }

// The increase is a power of ten of the unused capacity: fast and slow links take about as long to fill.
double UdtRateLaw::growth_packets() const {
  double left = capacity_ - rate_;
  if (rate_ < rate_before_decrease_) left = std::min(left, capacity_ * kCapacityShare);
  if (left <= 0) return kLeastGrowth;
  const double payload_bytes = static_cast<double>(payload_bytes_);
  const double magnitude = std::pow(10.0, std::ceil(std::log10(left * payload_bytes * 8)));
  return std::max(magnitude * kIncreasePerPacket / payload_bytes, kLeastGrowth);
}

std::uint64_t UdtRateLaw::window_bytes() const {
  return static_cast<std::uint64_t>(window_packets_ * static_cast<double>(payload_bytes_));
}

/// As the receiver reports it; zero in slow start.
BitRate UdtRateLaw::path_rate() const {
  const double bits = arrival_rate_ * 8 * static_cast<double>(payload_bytes_);
  return slow_start_ ? BitRate() : BitRate::from_bits_per_second(static_cast<std::uint64_t>(bits));
}

BitRate UdtRateLaw::pacing_rate() const {
  const double bits = 8 * static_cast<double>(payload_bytes_);
  if (!slow_start_) return BitRate::from_bits_per_second(static_cast<std::uint64_t>(std::max(rate_ * bits, bits)));
  if (!rtt_.value()) return {};
  return scaled(BitRate::from_bytes_per(window_bytes(), *rtt_.value()), kSlowStartPacingGain);
}

}  // namespace udtcat::transport::native
