/// Time as a parameter: nothing in here reads a clock but the driver (udp_port).
#pragma once

#include <chrono>

namespace udtcat::transport::native {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

}  // namespace udtcat::transport::native
