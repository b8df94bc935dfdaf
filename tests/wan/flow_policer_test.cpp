// SPDX-License-Identifier: Apache-2.0
#include "wan/flow_policer.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

class FlowPolicerTest : public testing::Test {
 protected:
  void set(std::uint64_t rate, std::size_t bucket_bytes) {
    policer_.set(BitRate::from_bits_per_second(rate), bucket_bytes, now_);
  }
  static Flow flow(std::size_t number) {
    return {.from = {.port = static_cast<std::uint16_t>(number)}, .protocol = 17};
  }
  int conforming(std::size_t number) {
    int count = 0;
    while (count < 1000 && policer_.of(flow(number), now_).conforms(1000, now_)) ++count;
    return count;
  }

  FlowPolicer policer_;
  TimePoint now_{1h};
};

TEST_F(FlowPolicerTest, LetsEverythingPassUnlessItHasARate) { EXPECT_EQ(conforming(1), 1000); }

TEST_F(FlowPolicerTest, HasABucketForEachFlow) {
  set(8'000'000, 10'000);
  EXPECT_EQ(conforming(1), 10);
  EXPECT_EQ(conforming(2), 10);
  now_ += 2ms;
  EXPECT_EQ(conforming(1), 2);
  EXPECT_EQ(conforming(3), 10) << "full at first";
  EXPECT_EQ(conforming(2), 2);
}

TEST_F(FlowPolicerTest, TellsTheTwoWaysOfAFlowApart) {
  set(8'000'000, 10'000);
  Flow back = flow(1);
  std::swap(back.from, back.to);
  EXPECT_EQ(conforming(1), 10);
  EXPECT_TRUE(policer_.of(back, now_).conforms(10'000, now_));
}

TEST_F(FlowPolicerTest, ForgetsTheOneThatHasBeenIdleLongest) {
  set(8'000'000, 10'000);
  for (std::size_t number = 0; number < FlowPolicer::kMostFlows; ++number) EXPECT_EQ(conforming(number), 10);
  EXPECT_EQ(conforming(0), 0);  // used just now
  EXPECT_EQ(conforming(FlowPolicer::kMostFlows), 10);
  EXPECT_EQ(conforming(0), 0);
  EXPECT_EQ(conforming(2), 0);
  EXPECT_EQ(conforming(1), 10) << "it was the oldest, and is new";
}

TEST_F(FlowPolicerTest, SetsThoseThatAreThere) {
  set(8'000'000, 10'000);
  EXPECT_EQ(conforming(1), 10);
  set(80'000'000, 20'000);
  EXPECT_EQ(conforming(1), 0);
  EXPECT_EQ(conforming(2), 20);
  now_ += 1ms;
  EXPECT_EQ(conforming(1), 10);
}

TEST_F(FlowPolicerTest, IsFullWhenItIsTurnedOnAgain) {
  set(8'000'000, 10'000);
  conforming(1);
  set(0, 10'000);
  EXPECT_EQ(conforming(1), 1000);
  set(8'000'000, 10'000);
  EXPECT_EQ(conforming(1), 10);
}

}  // namespace
}  // namespace udtcat::wan
