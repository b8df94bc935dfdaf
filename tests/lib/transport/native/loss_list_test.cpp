// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/loss_list.hpp"

#include <utility>

#include <set>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

using Ranges = std::vector<std::pair<PacketIndex, PacketIndex>>;

double in_milliseconds(Duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

class LossListTest : public testing::Test {
 protected:
  Ranges due(Duration after, std::size_t most = 100) {
    Ranges ranges;
    for (const auto& [first, last] : losses.take_due(kStart + after, most, backoff)) ranges.emplace_back(first, last);
    return ranges;
  }
  /// When a NAK names the gap, within five seconds.
  std::vector<Duration> asked() {
    std::vector<Duration> times;
    for (Duration at{0}; at < 5s; at += 1ms)
      if (!due(at).empty()) times.push_back(at);
    return times;
  }
  LossList::Backoff backoff{.after = 200ms};
  LossList losses;
};

/// Proves: udt4.gaps-at-once
TEST_F(LossListTest, GivesAGapOnceItIsOlderThanTheTolerance) {
  losses.add(kStart, 5, 9, 1000);
  EXPECT_EQ(losses.tolerance(), 12500us) << "an eighth of the first guess of a round trip";
  EXPECT_EQ(losses.deadline(), kStart + 12500us);
  EXPECT_TRUE(due(11ms).empty());
  EXPECT_EQ(due(12500us), (Ranges{{5, 9}}));
}

TEST_F(LossListTest, GivesAGapAgainLessAndLessOften) {
  losses.add(kStart, 5, 9, 1000);
  const auto at = asked();
  ASSERT_GE(at.size(), 5U);
  EXPECT_NEAR(in_milliseconds(at[1] - at[0]), 200, 2);
  EXPECT_NEAR(in_milliseconds(at[2] - at[1]), 400, 2);
  EXPECT_NEAR(in_milliseconds(at[4] - at[3]), 800, 2) << "four times, and no more";
}

TEST_F(LossListTest, GivesAGapAgainPromptlyAtFirst) {
  backoff = {.after = 200ms, .prompt = 50ms, .prompts = 3};
  losses.add(kStart, 5, 9, 1000);
  const auto at = asked();
  ASSERT_GE(at.size(), 9U);
  for (std::size_t i = 1; i <= 3; ++i) EXPECT_NEAR(in_milliseconds(at[i] - at[i - 1]), 50, 2) << i;
  EXPECT_NEAR(in_milliseconds(at[4] - at[3]), 200, 2);
  EXPECT_NEAR(in_milliseconds(at[5] - at[4]), 400, 2);
  EXPECT_NEAR(in_milliseconds(at[8] - at[7]), 800, 2) << "four times, and no more";
}

TEST_F(LossListTest, CountsThePromptRepeatsOfWhatIsLeftOfAGap) {
  backoff = {.after = 200ms, .prompt = 50ms, .prompts = 1};
  losses.add(kStart, 5, 9, 1000);
  EXPECT_EQ(due(13ms).size(), 1U);
  EXPECT_EQ(due(63ms).size(), 1U);
  losses.fill(kStart + 70ms, 7, 90'000);
  EXPECT_TRUE(due(250ms).empty());
  EXPECT_EQ(due(263ms), (Ranges{{5, 6}, {8, 9}}));
}

TEST_F(LossListTest, ClosesAGapFromAnySide) {
  losses.add(kStart, 5, 9, 1000);
  for (const PacketIndex index : {5U, 7U, 9U}) losses.fill(kStart, index, 2000);
  EXPECT_EQ(due(1s), (Ranges{{6, 6}, {8, 8}}));
  for (const PacketIndex index : {6U, 8U, 8U, 100U}) losses.fill(kStart, index, 2000);
  EXPECT_TRUE(losses.empty());
  EXPECT_FALSE(losses.deadline());
}

TEST_F(LossListTest, GivesGapsInOrderUpToALimit) {
  for (PacketIndex i = 0; i < 10; ++i) losses.add(kStart, 10 * i, 10 * i + 1, 1000);
  EXPECT_EQ(due(20ms, 3), (Ranges{{0, 1}, {10, 11}, {20, 21}}));
  EXPECT_LE(losses.deadline(), kStart + 20ms) << "there are more";
  EXPECT_EQ(due(20ms).size(), 7U);
  EXPECT_GT(losses.deadline(), kStart + 20ms);
}

TEST_F(LossListTest, GivesEachGapBeforeAnyIsGivenAgain) {
  for (PacketIndex i = 0; i < 1000; ++i) losses.add(kStart, 10 * i, 10 * i + 1, 1000);
  std::set<PacketIndex> asked;
  // In each round the gaps that were given first are due again.
  for (auto now = 20ms; asked.size() < 1000 && now < 10s; now += 200ms)
    for (const auto& range : losses.take_due(kStart + now, 100, {.after = 40ms})) asked.insert(range.first);
  EXPECT_EQ(asked.size(), 1000U);
}

TEST_F(LossListTest, IsBounded) {
  PacketIndex i = 0;
  while (!losses.full()) losses.add(kStart, 2 * i, 2 * i, 1000), ++i;
  EXPECT_EQ(i, 16'384U);
}

TEST_F(LossListTest, RaisesTheToleranceForALatePacket) {
  losses.add(kStart, 5, 5, 1000);
  losses.fill(kStart + 40ms, 5, 900);  // sent before the packet that revealed the gap
  EXPECT_EQ(losses.tolerance(), 50ms);
  EXPECT_EQ(losses.late(), 1U);
}

TEST_F(LossListTest, KeepsTheToleranceForARetransmission) {
  losses.add(kStart, 5, 5, 1000);
  losses.fill(kStart + 40ms, 5, 90'000);
  EXPECT_EQ(losses.tolerance(), 12500us);
  EXPECT_EQ(losses.late(), 0U);
}

TEST_F(LossListTest, TellsLateFromRetransmittedThoughTheClockWraps) {
  losses.add(kStart, 5, 5, 10);
  losses.fill(kStart + 40ms, 5, 0xfffffff0);
  EXPECT_EQ(losses.tolerance(), 50ms);
}

TEST_F(LossListTest, BoundsTheTolerance) {
  losses.add(kStart, 5, 5, 1000);
  losses.fill(kStart + 10s, 5, 900);
  EXPECT_EQ(losses.tolerance(), 250ms);
  LossList near;
  near.on_rtt(10us);
  EXPECT_EQ(near.tolerance(), 500us);
}

}  // namespace
}  // namespace udtcat::transport::native
