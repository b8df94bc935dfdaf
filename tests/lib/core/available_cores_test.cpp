#include "lib/core/available_cores.hpp"

#include <sched.h>

#include <thread>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(AvailableCores, AreAtLeastOneAndNoMoreThanTheMachineHas) {
  EXPECT_GE(available_cores(), 1U);
  EXPECT_LE(available_cores(), std::thread::hardware_concurrency());
}

TEST(AvailableCores, FollowTheAffinityMask) {
  std::size_t counted = 0;
  // A thread of its own: the mask is the thread's and ends with it.
  std::thread([&counted] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    counted = available_cores();
  }).join();
  EXPECT_EQ(counted, 1U);
}

}  // namespace
}  // namespace udtcat::core
