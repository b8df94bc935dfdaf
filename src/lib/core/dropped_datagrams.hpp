// SPDX-License-Identifier: Apache-2.0
/// How many datagrams the receive buffers of this process had no room for, whichever connection they were for.
#pragma once

#include <cstdint>

namespace udtcat::core {

/// Adds those of one socket, each once: sockets may be shared by connections.
/// Threads: any.
void count_dropped_datagrams(std::uint64_t more);

/// Of all sockets, closed ones too.
/// Threads: any.
[[nodiscard]] std::uint64_t dropped_datagrams();

}  // namespace udtcat::core
