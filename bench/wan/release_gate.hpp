// SPDX-License-Identifier: Apache-2.0
/// Packets that come in bursts, as Wi-Fi's aggregates do.
#pragma once

#include <chrono>

#include "wan/impairment.hpp"
#include "wan/time.hpp"

namespace udtcat::wan {

/// The time between two bursts: uniformly distributed. Zero: each packet comes when it comes.
struct ReleaseInterval {
  std::chrono::nanoseconds least{0};
  std::chrono::nanoseconds most{0};
  [[nodiscard]] bool is_set() const { return most > most.zero(); }
  friend bool operator==(const ReleaseInterval&, const ReleaseInterval&) = default;
};

/// Opens for a moment again and again. Threads: unsynchronised.
class ReleaseGate {
 public:
  ReleaseGate(const ReleaseInterval& interval, Random& random) : interval_(interval), random_(&random) {}

  void set(const ReleaseInterval& interval) {
    if (interval != interval_) next_ = last_;
    interval_ = interval;
  }
  /// The last time at which it was open; `now` does not go back.
  [[nodiscard]] TimePoint last_open(TimePoint now);
  /// When to ask last_open() for a packet that is due at `due`: it may have to be asked again then.
  [[nodiscard]] TimePoint opens_for(TimePoint due) const;

 private:
  ReleaseInterval interval_;
  Random* random_;
  TimePoint last_{};
  TimePoint next_{};
};

}  // namespace udtcat::wan
