// SPDX-License-Identifier: Apache-2.0
/// Time as a parameter: in this module the driver alone (udp_port, udt_link) reads a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace udtcat::transport::native {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

/// UDT's unit of time: a receiver may delay an ACK for so long.
inline constexpr Duration kSyn = std::chrono::milliseconds(10);  // spec: draft-gg-udt, "SYN"

/// As packets carry it. Wraps after 71 minutes.
[[nodiscard]] inline std::uint32_t timestamp_us(TimePoint now, TimePoint zero) {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(now - zero).count());
}

/// For the driver alone.
inline TimePoint clock_now() { return std::chrono::steady_clock::now(); }

}  // namespace udtcat::transport::native
