// SPDX-License-Identifier: Apache-2.0
/// The memory and descriptors that this process holds, as the system tells.
#pragma once

#include <cstdint>

namespace udtcat::tool {

struct ProcessResources {
  std::uint64_t memory_bytes = 0;  ///< resident
  std::uint64_t open_descriptors = 0;
  std::uint64_t max_descriptors = 0;  ///< the limit; 0: nothing is known
};

/// Of this process, now. Reads /proc, which is no disk.
[[nodiscard]] ProcessResources process_resources();

/// Gives what sessions that have ended had back to the system, once a second at most: malloc() would keep it, in pieces
/// that grow in number with each of them.
/// Threads: confined to the main thread.
void release_freed_memory();

}  // namespace udtcat::tool
