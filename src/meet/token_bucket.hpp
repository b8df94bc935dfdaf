// SPDX-License-Identifier: Apache-2.0
/// A rate limit that lets bursts pass (RFC 2697's committed rate and burst size, with one colour).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <udtcat/units.hpp>

namespace udtcat::meet {

/// Threads: unsynchronised.
class TokenBucket {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// rate    unlimited: everything passes
  /// burst   what passes at once after a while of silence
  TokenBucket(BitRate rate, std::chrono::milliseconds burst, TimePoint now)
      : rate_(rate),
        most_bytes_(std::max(kLeastBurstBytes, static_cast<double>(rate.bytes_per_second()) *
                                                   std::chrono::duration<double>(burst).count())),
        bytes_(most_bytes_),
        filled_at_(now) {}

  void fill(TimePoint now) {
    if (now <= filled_at_) return;
    const double seconds = std::chrono::duration<double>(now - filled_at_).count();
    bytes_ = std::min(most_bytes_, bytes_ + seconds * static_cast<double>(rate_.bytes_per_second()));
    filled_at_ = now;
  }
  [[nodiscard]] bool has(std::size_t bytes) const { return rate_.unlimited() || bytes_ >= static_cast<double>(bytes); }
  /// Of what it has, or more: then it has nothing until the rate has made up for it.
  void take(std::size_t bytes) {
    if (!rate_.unlimited()) bytes_ -= static_cast<double>(bytes);
  }

 private:
  static constexpr double kLeastBurstBytes = 65'536;  // spec: the largest train that the kernel gives at once

  BitRate rate_;
  double most_bytes_;
  double bytes_;
  TimePoint filled_at_;
};

}  // namespace udtcat::meet
