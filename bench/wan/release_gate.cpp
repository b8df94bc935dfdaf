// SPDX-License-Identifier: Apache-2.0
#include "wan/release_gate.hpp"

namespace udtcat::wan {

TimePoint ReleaseGate::last_open(TimePoint now) {
  if (!interval_.is_set()) return last_ = next_ = now;
  // After a long rest whole intervals are skipped, so that the loop is short.
  if (now > next_) next_ += (now - next_) / interval_.most * interval_.most;
  std::uniform_int_distribution<std::int64_t> until_next(interval_.least.count(), interval_.most.count());
  while (next_ <= now) {
    last_ = next_;
    next_ += std::chrono::nanoseconds(until_next(*random_));
  }
  return last_;
}

TimePoint ReleaseGate::opens_for(TimePoint due) const {
  // Later openings are drawn when their time has come.
  return interval_.is_set() && due > last_ && due <= next_ ? next_ : due;
}

}  // namespace udtcat::wan
