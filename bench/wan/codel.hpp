// SPDX-License-Identifier: Apache-2.0
/// CoDel, RFC 8289: drops from a queue that stands, more often the longer it stands.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "wan/time.hpp"

namespace udtcat::wan {

struct CodelSettings {
  std::chrono::nanoseconds target = std::chrono::milliseconds(5);      // spec: RFC 8289 §4.4
  std::chrono::nanoseconds interval = std::chrono::milliseconds(100);  // spec: RFC 8289 §4.3
};

/// Asked once for each packet, when the link is free for it. Threads: unsynchronised.
class Codel {
 public:
  void set(const CodelSettings& settings) { settings_ = settings; }

  /// sojourn        how long the packet has waited
  /// bytes_behind   what waits still; no more than a packet is no queue
  [[nodiscard]] bool drops(TimePoint now, std::chrono::nanoseconds sojourn, std::size_t bytes_behind);
  /// Whether the packet last asked about had waited for more than the target.
  [[nodiscard]] bool is_above_target() const { return above_until_ != TimePoint{}; }

 private:
  [[nodiscard]] bool stands(TimePoint now, std::chrono::nanoseconds sojourn, std::size_t bytes_behind);
  [[nodiscard]] TimePoint control_law(TimePoint after) const;

  CodelSettings settings_;
  TimePoint above_until_{};  // "first_above_time": an interval after the first that was above the target
  TimePoint drop_next_{};
  std::uint32_t count_ = 0;       // of drops, in this time of dropping
  std::uint32_t last_count_ = 0;  // when the time of dropping began
  bool dropping_ = false;
};

}  // namespace udtcat::wan
