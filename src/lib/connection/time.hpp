/// The clock of a session.
#pragma once

#include <chrono>

namespace udtcat::connection {

using TimePoint = std::chrono::steady_clock::time_point;

}  // namespace udtcat::connection
