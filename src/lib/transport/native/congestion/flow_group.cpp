// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/flow_group.hpp"

#include <algorithm>
#include <chrono>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

// Delivery is measured over so many round trips, so that ACKs which come together are no rate.
constexpr int kSpanRtts = 4;               // guess: an ACK comes ten times in them
constexpr Duration kLeastSpan = 100ms;     // spec: ten of a receiver's acknowledgements
constexpr int kSteadySpans = 2;            // guess: what a flow delivers is in the sum before its bandwidth is
constexpr Duration kPeriod = 2'500ms;      // spec: a cycle of probes; the largest of two counts
constexpr double kSharedBottleneck = 0.9;  // measured: ADR-0078: paths of their own give 0.93 by the scatter of samples

}  // namespace

Duration FlowGroup::span(const Report& report) const { return std::max(kSpanRtts * report.least_rtt, kLeastSpan); }

void FlowGroup::add_delivered(const Report& report) {
  if (report.probing) probing_until_ = report.now + std::max(report.least_rtt, kLeastSpan);
  span_bytes_ += report.newly_delivered_bytes;
  const auto time = report.now - span_began_;
  if (time < span(report)) return;
  // After a pause it is nobody's rate.
  if (time < 2 * span(report)) largest_.update(BitRate::from_bytes_per(span_bytes_, time));
  span_began_ = report.now;
  span_bytes_ = 0;
  if (report.now - period_began_ < kPeriod) return;
  largest_.advance();
  period_began_ = report.now;
}

double FlowGroup::share() const {
  if (counted_ < 2 || largest_.value() == BitRate()) return 1;
  const double part =
      static_cast<double>(largest_.value().bits_per_second()) / static_cast<double>(sum_.bits_per_second());
  return part > kSharedBottleneck ? 1 : std::max(part, 1.0 / static_cast<double>(counted_));
}

void FlowGroup::Member::on_ack(const Report& report) {
  group_->add_delivered(report);
  const Duration steady = kSteadySpans * group_->span(report);
  if (report.bandwidth != BitRate()) {
    if (!limited_since_) limited_since_ = report.now;
    limited_at_ = report.now;
    if (report.now - *limited_since_ >= steady) count(report.bandwidth);
  } else if (report.now - limited_at_ >= steady) {
    stop();
  }
}

void FlowGroup::Member::stop() {
  limited_since_.reset();
  count(BitRate());
}

void FlowGroup::Member::count(BitRate bandwidth) {
  if (counted_ != BitRate()) --group_->counted_;
  if (bandwidth != BitRate()) ++group_->counted_;
  group_->sum_ = BitRate::from_bits_per_second(group_->sum_.bits_per_second() - counted_.bits_per_second()) + bandwidth;
  counted_ = bandwidth;
}

std::shared_ptr<FlowGroup> FlowGroups::to_host_of(const Endpoint& peer) {
  std::erase_if(groups_, [](const auto& each) { return each.second.expired(); });
  auto& known = groups_[core::host_of(peer)];
  auto group = known.lock();
  if (!group) known = group = std::make_shared<FlowGroup>();
  return group;
}

}  // namespace udtcat::transport::native
