// SPDX-License-Identifier: Apache-2.0
#include "wan/codel.hpp"

#include <cmath>

namespace udtcat::wan {
namespace {

constexpr std::size_t kMostPacketBytes = 1500;  // spec: RFC 8289 §5.3, "maxpacket"
constexpr int kReentryIntervals = 16;           // spec: RFC 8289 §5.5

}  // namespace

bool Codel::drops(TimePoint now, std::chrono::nanoseconds sojourn, std::size_t bytes_behind) {
  const bool standing = stands(now, sojourn, bytes_behind);
  if (!standing) {
    dropping_ = false;
    return false;
  }
  if (dropping_) {
    if (now < drop_next_) return false;
    ++count_;
    drop_next_ = control_law(drop_next_);
    return true;
  }
  dropping_ = true;
  const std::uint32_t recent = count_ - last_count_;
  // A queue that stands again soon is dropped from at the rate that was enough the last time.
  count_ = recent > 1 && now - drop_next_ < kReentryIntervals * settings_.interval ? recent : 1;
  drop_next_ = control_law(now);
  last_count_ = count_;
  return true;
}

/// Whether packets have waited longer than the target for an interval.
bool Codel::stands(TimePoint now, std::chrono::nanoseconds sojourn, std::size_t bytes_behind) {
  if (sojourn < settings_.target || bytes_behind <= kMostPacketBytes) {
    above_until_ = {};
    return false;
  }
  if (!is_above_target()) {
    above_until_ = now + settings_.interval;
    return false;
  }
  return now >= above_until_;
}

TimePoint Codel::control_law(TimePoint after) const {
  return after + std::chrono::nanoseconds(std::llround(static_cast<double>(settings_.interval.count()) /
                                                       std::sqrt(static_cast<double>(count_))));
}

}  // namespace udtcat::wan
