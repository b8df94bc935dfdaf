// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/flow_growth.hpp"

#include <algorithm>

namespace udtcat::connection {

/// 0: not known yet.
double FlowGrowth::bytes_per_second() const {
  const auto span = samples_.back().first - samples_.front().first;
  if (span < kSpan / 2) return 0;
  return static_cast<double>(samples_.back().second - samples_.front().second) /
         std::chrono::duration<double>(span).count();
}

std::size_t FlowGrowth::look(TimePoint now, const Sample& sample) {
  samples_.emplace_back(now, sample.bytes);
  while (samples_.size() > 2 && now - samples_.front().first > kSpan) samples_.pop_front();
  if (trial_) {
    if (!trial_->complete_at && (sample.flows >= wanted_ || now - trial_->began >= kTrial)) trial_->complete_at = now;
    if (!trial_->complete_at || now - *trial_->complete_at < kTrial) return wanted_;
    if (bytes_per_second() < (1 + kLeastGain) * trial_->bytes_per_second_before) {
      wanted_ = trial_->flows_before;
      rests_until_ = now + rest_;
      rest_ *= 2;
    }
    trial_.reset();
    policed_since_.reset();
    return wanted_;
  }
  if (!sample.policed || now < rests_until_ || wanted_ >= most_) {
    policed_since_.reset();
    return wanted_;
  }
  if (!policed_since_) policed_since_ = now;
  if (now - *policed_since_ < kPoliced || bytes_per_second() == 0) return wanted_;
  trial_ = Probe{wanted_, bytes_per_second(), std::nullopt, now};
  wanted_ = std::min(most_, wanted_ * kFactor);
  return wanted_;
}

}  // namespace udtcat::connection
