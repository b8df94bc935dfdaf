// SPDX-License-Identifier: Apache-2.0
/// Exponential backoff between two attempts to reach a peer.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace udtcat::forward {

inline constexpr std::chrono::milliseconds kFirstRedialDelay{1'000};     // spec: udtcat-forward(1), Outages
inline constexpr std::chrono::milliseconds kLongestRedialDelay{30'000};  // spec: udtcat-forward(1), Outages

/// No delay before the first attempt; then a second, doubled up to half a minute. Each delay is random within its last
/// quarter, so that the connectors of one listener do not come back together.
/// Threads: unsynchronised. Random numbers are a parameter.
class RedialBackoff {
 public:
  template <typename Random>
  [[nodiscard]] std::chrono::milliseconds next(Random& random) {
    if (!failed_) {
      failed_ = true;
      return std::chrono::milliseconds(0);
    }
    const auto longest = next_;
    next_ = std::min(2 * next_, kLongestRedialDelay);
    return std::chrono::milliseconds(std::uniform_int_distribution<std::chrono::milliseconds::rep>(
        longest.count() * 3 / 4, longest.count())(random));
  }
  /// The peer is there, and stays.
  void reset() { *this = {}; }

 private:
  bool failed_ = false;
  std::chrono::milliseconds next_ = kFirstRedialDelay;
};

}  // namespace udtcat::forward
