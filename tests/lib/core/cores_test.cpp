// SPDX-License-Identifier: Apache-2.0
#include "lib/core/cores.hpp"

#include <thread>

#include <sched.h>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(AvailableCores, AreThoseThatTheMaskLeaves) {
  std::size_t allowed = 0;
  std::size_t pinned = 0;
  std::thread([&] {
    allowed = available_cores();
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &mask);
    ASSERT_EQ(::sched_setaffinity(0, sizeof mask, &mask), 0);
    pinned = available_cores();
  }).join();
  EXPECT_GE(allowed, 1U);
  EXPECT_LE(allowed, std::thread::hardware_concurrency());
  EXPECT_EQ(pinned, 1U);
}

}  // namespace
}  // namespace udtcat::core
