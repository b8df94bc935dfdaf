// SPDX-License-Identifier: Apache-2.0
/// A rate that nothing waits for: tc's `police rate R burst B drop`.
#pragma once

#include <cstddef>

#include <udtcat/units.hpp>

#include "wan/time.hpp"

namespace udtcat::wan {

/// A bucket of tokens, full at first. Threads: unsynchronised.
class Policer {
 public:
  /// rate           none: everything conforms
  /// bucket_bytes   the most that passes at once
  void set(BitRate rate, std::size_t bucket_bytes, TimePoint now);
  /// Whether the bucket has the packet's bytes, which it loses then.
  [[nodiscard]] bool conforms(std::size_t bytes, TimePoint now);

 private:
  void refill(TimePoint now);

  BitRate rate_{};
  double bucket_bytes_ = 0;
  double tokens_ = 0;  // bytes
  TimePoint filled_at_{};
};

}  // namespace udtcat::wan
