// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/flow_group.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr int kSpanRtts = 4;            // guess: several flights, so that ACKs which come together are no rate
constexpr Duration kLeastSpan = 100ms;  // guess: ten of a receiver's ACK intervals
constexpr int kSteadySpans = 2;         // guess: what a flow delivers is in the one sum before it is in the other
constexpr Duration kPeriod = 2'500ms;   // spec: draft-ietf-ccwg-bbr, "BBRPickProbeWait": the mean of 2 to 3 s
constexpr double kEase = 1.01;          // guess: a tenth in a second; a queue of some milliseconds ends it
constexpr double kLeastShare = 0.5;     // guess: so that other sessions of its host can do no more to one; 0.6 to 0.9
constexpr double kSharedBottleneck = 0.9;  // guess: samples of paths of their own scatter by less; ADR-0078

Duration span_of(const FlowGroup::Report& report) { return std::max(kSpanRtts * report.least_rtt, kLeastSpan); }

}  // namespace

void FlowGroup::add_delivered(const Report& report) {
  queued_ = queued_ || report.queued;
  span_bytes_ += report.newly_delivered_bytes;
  if (report.now - span_began_ >= span_of(report)) end_span(report);
}

void FlowGroup::end_span(const Report& report) {
  largest_.update(BitRate::from_bytes_per(span_bytes_, report.now - span_began_));
  eased_ = std::exchange(queued_, false) ? 1 : std::min(eased_ * kEase, 1 / kLeastShare);
  span_began_ = report.now;
  span_bytes_ = 0;
  // Of one that rests no ACK comes that would say so.
  for (auto each = counted_.begin(); each != counted_.end();) {
    Member& member = **each++;
    if (report.now - member.limited_at_ > member.steady_) member.stop();
  }
  if (report.now - period_began_ < kPeriod) return;
  largest_.advance();
  period_began_ = report.now;
}

double FlowGroup::share() const {
  if (counted_.size() < 2 || largest_.value() == BitRate()) return 1;
  const double part =
      eased_ * static_cast<double>(largest_.value().bits_per_second()) / static_cast<double>(sum_.bits_per_second());
  return part > kSharedBottleneck ? 1 : std::max(part, kLeastShare);
}

FlowGroup::Member::~Member() {
  stop();
  if (group_->prober_ == this) group_->prober_ = nullptr;
}

void FlowGroup::Member::on_ack(const Report& report) {
  group_->add_delivered(report);
  const TimePoint until = report.now + std::max(report.least_rtt, kLeastSpan);
  if (report.probing && (group_->prober_ == nullptr || until >= group_->probing_until_)) {
    group_->prober_ = this;
    group_->probing_until_ = until;
  }
  if (report.bandwidth != BitRate()) on_limited(report);
}

void FlowGroup::Member::on_limited(const Report& report) {
  steady_ = kSteadySpans * span_of(report);
  if (!limited_since_ || report.now - limited_at_ > steady_) limited_since_ = report.now;
  limited_at_ = report.now;
  if (report.now - *limited_since_ >= steady_) count(report.bandwidth);
}

void FlowGroup::Member::stop() {
  limited_since_.reset();
  count(BitRate());
}

void FlowGroup::Member::count(BitRate bandwidth) {
  auto& all = group_->counted_;
  if (counted_ == BitRate() && bandwidth != BitRate()) place_ = all.insert(all.end(), this);
  if (counted_ != BitRate() && bandwidth == BitRate()) all.erase(place_);
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
