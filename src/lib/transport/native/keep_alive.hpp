// SPDX-License-Identifier: Apache-2.0
/// How often an end says that it is there. See docs/spec/udt4.md §8.
#pragma once

#include <algorithm>
#include <chrono>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

inline constexpr Duration kKeepAlive = std::chrono::seconds(1);       // spec: udt4.md §8
inline constexpr Duration kRareKeepAlive = std::chrono::seconds(10);  // spec: udt4.md §8: mappings of NATs last longer
inline constexpr int kKeepAlives = 8;                                 // spec: udt4.md §8: within the idle timeout

/// Where a session above asks for signs of life, and towards libudt: it gives up after some 45 s of silence, and sends
/// nothing again while it hears something more often than its retransmission timeout ends, a second and more on a long
/// path.
[[nodiscard]] constexpr Duration rare_keep_alive(Duration idle_timeout) {
  return std::clamp<Duration>(idle_timeout / kKeepAlives, kKeepAlive, kRareKeepAlive);
}

}  // namespace udtcat::transport::native
