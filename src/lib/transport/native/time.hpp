/// Time as a parameter: nothing in here reads a clock but the driver (udp_port).
#pragma once

#include <chrono>

namespace udtcat::transport::native {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

/// For the driver alone.
inline TimePoint clock_now() { return std::chrono::steady_clock::now(); }

}  // namespace udtcat::transport::native
