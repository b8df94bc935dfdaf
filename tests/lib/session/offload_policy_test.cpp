// SPDX-License-Identifier: Apache-2.0
#include "lib/session/offload_policy.hpp"

#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "support/deadline.hpp"

namespace udtcat::session {
namespace {

using namespace std::chrono_literals;

TEST(SchedulerTimes, IsReadFromWhatTheKernelWrites) {
  std::istringstream text("543210 98765 12\n");
  const auto times = SchedulerTimes::read(text);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->had, 543'210ns);
  EXPECT_EQ(times->waited, 98'765ns);
}

TEST(SchedulerTimes, IsNoneForOtherText) {
  for (const char* words : {"", " ", "1", "1 ", "x 2 3", "1 x 3", "99999999999999999999 1 1"}) {
    std::istringstream text(words);
    EXPECT_FALSE(SchedulerTimes::read(text)) << words;
  }
}

TEST(SchedulerTimes, OfThisThreadGrowsWhileItRuns) {
  const auto before = SchedulerTimes::of_this_thread();
  ASSERT_EQ(before.has_value(), std::filesystem::exists("/proc/thread-self/schedstat"));
  if (!before) return;
  EXPECT_TRUE(test::eventually(10s, [&] { return SchedulerTimes::of_this_thread()->had > before->had; }));
}

class OffloadPolicyTest : public testing::Test {
 protected:
  /// A tenth of a second passes, in which the thread had a core so long, and waited so long for one.
  void pass(std::chrono::milliseconds had, std::chrono::milliseconds waited) {
    now += OffloadPolicy::kSampleInterval;
    times.had += had;
    times.waited += waited;
    policy.sample(now, times);
  }
  bool offloads() { return policy.offloads(now); }

  boost::asio::io_context io;
  OffloadPolicy& policy = OffloadPolicy::of(io);
  OffloadPolicy::TimePoint now = OffloadPolicy::TimePoint() + 1h;
  SchedulerTimes times;
};

TEST_F(OffloadPolicyTest, OffloadsUntilThreadsWaitForCores) {
  pass(0ms, 0ms);
  pass(90ms, 10ms);
  EXPECT_TRUE(offloads());
  pass(60ms, 40ms);
  EXPECT_FALSE(offloads());
}

TEST_F(OffloadPolicyTest, OffloadsWhereAnIdleThreadWaits) {
  pass(0ms, 0ms);
  pass(10ms, 20ms);
  EXPECT_TRUE(offloads());
}

TEST_F(OffloadPolicyTest, IsTriedAgainAfterTwiceAsLongEachTime) {
  pass(0ms, 0ms);
  for (const int kept : {10, 20, 40}) {
    pass(50ms, 50ms);
    for (int i = 1; i < kept; ++i) {
      EXPECT_FALSE(offloads()) << i << " of " << kept;
      pass(80ms, 0ms);
    }
    EXPECT_FALSE(offloads());
    pass(80ms, 0ms);
    EXPECT_TRUE(offloads()) << kept;
  }
  pass(90ms, 0ms);
  EXPECT_TRUE(offloads());
  pass(50ms, 50ms);
  for (int i = 0; i < 10; ++i) pass(50ms, 50ms);
  EXPECT_TRUE(offloads()) << "after a second, as at first";
}

TEST_F(OffloadPolicyTest, OffloadsWhereTheSystemDoesNotTell) {
  pass(0ms, 0ms);
  pass(50ms, 50ms);
  policy.sample(now += 100ms, std::nullopt);
  EXPECT_TRUE(offloads());
}

TEST_F(OffloadPolicyTest, IgnoresAPauseBetweenSamples) {
  pass(0ms, 0ms);
  now += 10s;
  pass(9'000ms, 1'100ms);
  EXPECT_TRUE(offloads());
  pass(50ms, 50ms);
  EXPECT_FALSE(offloads());
}

}  // namespace
}  // namespace udtcat::session
