// SPDX-License-Identifier: Apache-2.0
/// Round-trip times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// source: RFC 6298 §2; RFC 9002 §5.2 for the minimum.
/// Threads: unsynchronised.
class RttEstimator {
 public:
  static constexpr Duration kInitial = std::chrono::milliseconds(100);    // spec: UDT4
  static constexpr Duration kGranularity = std::chrono::milliseconds(2);  // guess: how late a busy machine wakes

  void on_sample(Duration sample) {
    sample = std::max(sample, Duration(std::chrono::microseconds(1)));
    latest_ = sample;
    sum_ += sample;
    ++samples_;
    minimum_ = std::min(minimum_.value_or(sample), sample);
    if (!measured_) {
      smoothed_ = sample;
      variation_ = sample / 2;
      measured_ = true;
      return;
    }
    const Duration difference = smoothed_ > sample ? smoothed_ - sample : sample - smoothed_;
    variation_ = (3 * variation_ + difference) / 4;
    smoothed_ = (7 * smoothed_ + sample) / 8;
  }

  [[nodiscard]] bool measured() const { return measured_; }
  [[nodiscard]] Duration smoothed() const { return smoothed_; }
  [[nodiscard]] Duration variation() const { return variation_; }
  [[nodiscard]] Duration latest() const { return latest_; }
  /// The least of all samples; none before the first.
  [[nodiscard]] std::optional<Duration> minimum() const { return minimum_; }
  /// Of all samples.
  [[nodiscard]] Duration sum() const { return sum_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  /// An answer that takes longer is late.
  [[nodiscard]] Duration timeout() const { return smoothed_ + std::max(4 * variation_, kGranularity); }
  /// Another path: what was learned of the old one says nothing.
  void reset() { *this = RttEstimator(); }

 private:
  bool measured_ = false;
  Duration smoothed_ = kInitial;
  Duration variation_ = kInitial / 2;
  Duration latest_ = kInitial;
  std::optional<Duration> minimum_;
  Duration sum_{0};
  std::uint64_t samples_ = 0;
};

}  // namespace udtcat::transport::native
