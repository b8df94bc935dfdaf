// SPDX-License-Identifier: Apache-2.0
#include "lib/core/dropped_datagrams.hpp"

#include <atomic>

namespace udtcat::core {

namespace {

std::atomic<std::uint64_t>& dropped_so_far() {
  static std::atomic<std::uint64_t> count{0};
  return count;
}

}  // namespace

void count_dropped_datagrams(std::uint64_t more) { dropped_so_far().fetch_add(more, std::memory_order_relaxed); }

std::uint64_t dropped_datagrams() { return dropped_so_far().load(std::memory_order_relaxed); }

}  // namespace udtcat::core
