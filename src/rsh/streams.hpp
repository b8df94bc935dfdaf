/// Which stream of a connection carries what. The near end opens all four at once, in this order.
#pragma once

#include <udtcat/connection.hpp>

namespace udtcat::rsh {

// spec: docs/spec/rsh.md §2
inline constexpr StreamId kControlStream = 0;
inline constexpr StreamId kInputStream = 2;
inline constexpr StreamId kOutputStream = 4;
inline constexpr StreamId kErrorStream = 6;

}  // namespace udtcat::rsh
