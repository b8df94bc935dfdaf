// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/flow_growth.hpp"

#include <gtest/gtest.h>

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;

class FlowGrowthTest : public ::testing::Test {
 protected:
  /// So long at so many bytes a second for each flow that is there.
  std::size_t pass(std::chrono::milliseconds time, double rate, bool policed, std::size_t most_flows = 16) {
    for (const auto until = now + time; now < until;) {
      now += FlowGrowth::kLookEvery;
      const std::size_t flows = std::min(wanted, most_flows);
      bytes += rate * static_cast<double>(flows) / 10;
      wanted = growth.look(now, {.bytes = static_cast<std::uint64_t>(bytes), .policed = policed, .flows = flows});
    }
    return wanted;
  }

  FlowGrowth growth{16};
  FlowGrowth::TimePoint now{1h};
  double bytes = 0;
  std::size_t wanted = 1;
};

TEST_F(FlowGrowthTest, HasOneWhereNothingLimitsAFlow) { EXPECT_EQ(pass(60s, 1e8, false), 1U); }

TEST_F(FlowGrowthTest, NeverHasLessThanTheLeast) {
  FlowGrowth two{16, 2};
  EXPECT_EQ(two.look(now, {.bytes = 0, .policed = false, .flows = 1}), 2U);
  EXPECT_EQ(two.look(now + 60s, {.bytes = 1, .policed = false, .flows = 1}), 2U);
}

TEST_F(FlowGrowthTest, TriesSeveralWhereAFlowIsPolicedAndKeepsThemIfTheyBringMore) {
  EXPECT_EQ(pass(700ms, 1e8, true), 1U) << "a beginning may look so";
  EXPECT_EQ(pass(300ms, 1e8, true), 4U);
  EXPECT_EQ(pass(10s, 1e8, false), 4U);
}

TEST_F(FlowGrowthTest, GrowsOnWhileFlowsArePoliced) {
  EXPECT_EQ(pass(5s, 1e8, true), 16U);
  EXPECT_EQ(pass(60s, 1e8, true), 16U) << "and no more than are agreed on";
}

TEST_F(FlowGrowthTest, GoesBackWhereTheyBringNothing) {
  EXPECT_EQ(pass(1s, 1e8, true), 4U);
  for (int i = 0; i < 15; ++i) pass(100ms, 1e8 / static_cast<double>(wanted), true);
  EXPECT_EQ(wanted, 1U);
  EXPECT_EQ(pass(15s, 1e8, true), 1U) << "it tries again later";
  EXPECT_EQ(pass(7s, 1e8, true), 4U);
}

TEST_F(FlowGrowthTest, TriesNothingForAVerdictThatDoesNotLast) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(pass(500ms, 1e8, true), 1U);
    EXPECT_EQ(pass(100ms, 1e8, false), 1U);
  }
}

TEST_F(FlowGrowthTest, JudgesATrialWhoseFlowsDoNotCome) {
  EXPECT_EQ(pass(1s, 1e8, true), 4U);
  EXPECT_EQ(pass(2500ms, 1e8, true, 1), 1U);
}

}  // namespace
}  // namespace udtcat::connection
