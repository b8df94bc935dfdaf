// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/bbr_probe.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

TEST(InFlightCeiling, IsUnboundedUntilItIsSet) {
  InFlightCeiling ceiling;
  EXPECT_FALSE(ceiling.bounded());
  EXPECT_EQ(ceiling.with_headroom(false), kUnbounded);
  ceiling.set(100'000);
  EXPECT_EQ(ceiling.bytes(), 100'000U);
  EXPECT_EQ(ceiling.with_headroom(false), 85'000U);
  EXPECT_EQ(ceiling.with_headroom(true), 75'000U);
}

TEST(InFlightCeiling, RisesByTwiceAsManyPacketsInEachRoundTripOfAProbe) {
  constexpr std::uint64_t kCeilingWindow = 100 * kPayload;
  InFlightCeiling ceiling;
  ceiling.set(kCeilingWindow);
  ceiling.start_probe();
  std::uint64_t expected = kCeilingWindow;
  for (const std::uint64_t packets : {1U, 2U, 4U, 8U}) {
    ceiling.steepen(kCeilingWindow, kPayload);
    for (int ack = 0; ack < 10; ++ack) ceiling.raise(kCeilingWindow / 10, kPayload);
    expected += packets * kPayload;
    EXPECT_NEAR(static_cast<double>(ceiling.bytes()), static_cast<double>(expected), kPayload);
  }
}

TEST(InFlightCeiling, NeverRisesFasterThanWhatArrives) {
  InFlightCeiling ceiling;
  ceiling.set(10 * kPayload);
  ceiling.start_probe();
  for (int round = 0; round < 40; ++round) ceiling.steepen(10 * kPayload, kPayload);
  ceiling.raise(10 * kPayload, kPayload);
  EXPECT_EQ(ceiling.bytes(), 20 * kPayload);
}

TEST(InFlightCeiling, YieldsOnceUntilTheNextProbe) {
  InFlightCeiling ceiling;
  ceiling.yield(0);
  EXPECT_FALSE(ceiling.bounded()) << "no probe has found it";
  ceiling.set(100'000);
  ceiling.yield(0);
  ceiling.yield(0);
  EXPECT_EQ(ceiling.bytes(), 85'000U);
  ceiling.start_probe();
  ceiling.yield(80'000);
  EXPECT_EQ(ceiling.bytes(), 80'000U) << "the least";
}

TEST(CompetingFlows, AreNoneAtFirst) {
  const CompetingFlows flows;
  EXPECT_FALSE(flows.share_queue());
  EXPECT_FALSE(flows.responsive());
  EXPECT_FALSE(flows.unresponsive());
}

TEST(CompetingFlows, ShareTheQueueIfAProbeGainsWhileItStands) {
  CompetingFlows flows;
  flows.on_probe_start(mbit(100));
  flows.on_probe_end(mbit(101), true);
  EXPECT_FALSE(flows.share_queue()) << "no gain";
  flows.on_probe_start(mbit(100));
  flows.on_probe_end(mbit(120), false);
  EXPECT_FALSE(flows.share_queue()) << "the path had more";
  flows.on_probe_start(mbit(100));
  flows.on_probe_end(mbit(110), true);
  EXPECT_TRUE(flows.share_queue());
}

TEST(CompetingFlows, AreResponsiveIfTheQueueOverflowsNowAndThen) {
  CompetingFlows flows;
  for (int loss = 0; loss < 10; ++loss) {
    flows.on_round_trip(true, true);
    for (int round = 0; round < 200; ++round) flows.on_round_trip(false, true);
    EXPECT_TRUE(flows.responsive());
    EXPECT_FALSE(flows.unresponsive());
  }
  for (int round = 0; round < 500; ++round) flows.on_round_trip(false, true);
  EXPECT_FALSE(flows.responsive()) << "gone";
}

TEST(CompetingFlows, AreUnresponsiveIfItOverflowsAgainAndAgain) {
  CompetingFlows flows;
  for (int round = 0; round < 200; ++round) flows.on_round_trip(round % 8 == 0, true);
  EXPECT_TRUE(flows.unresponsive());
  EXPECT_FALSE(flows.responsive());
  for (int round = 0; round < 200; ++round) flows.on_round_trip(false, true);
  EXPECT_FALSE(flows.unresponsive());
}

TEST(CompetingFlows, AreNotTheCauseOfTheQueueThatAProbeLeft) {
  CompetingFlows flows;
  for (int round = 0; round < 200; ++round) flows.on_round_trip(true, false);
  EXPECT_FALSE(flows.unresponsive());
  EXPECT_FALSE(flows.responsive());
  EXPECT_FALSE(flows.anybody());
}

TEST(CompetingFlows, AreDoubtedWhereTheQueueDrains) {
  CompetingFlows flows;
  for (int round = 0; round < 8; ++round) flows.on_round_trip(true, true);
  ASSERT_TRUE(flows.unresponsive());
  flows.on_empty_queue();
  EXPECT_FALSE(flows.unresponsive());
}

}  // namespace
}  // namespace udtcat::transport::native::test
