// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/path_loss.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

/// Round trips of 50 ms with enough packets for each to tell.
class PathLossTest : public testing::Test {
 protected:
  using Diagnosis = PathLoss::Diagnosis;

  Diagnosis round(double loss, BitRate sent = mbit(100), Duration pause = 0ms, std::uint64_t run_packets = 1) {
    now_ += 50ms;
    const auto bytes = bytes_during(sent, 50ms);
    RoundTrip round;
    round.delivered_bytes = scaled(bytes, 1 - loss);
    round.lost_bytes = scaled(bytes, loss);
    round.lost_runs = (round.lost_bytes + run_packets * kPayload - 1) / (run_packets * kPayload);
    round.time = 50ms + pause;
    return loss_.on_round_trip(now_, round, scaled(sent, 1 - loss_.value()), kPayload);
  }
  /// A doubt, and a look for the round trip that finds no queue: the next rounds are at three quarters of the pace.
  void begin_trial(double loss) {
    ASSERT_EQ(round(loss), Diagnosis::doubt);
    round(loss);
    round(loss);
    ASSERT_TRUE(loss_.wants_rtt());
    loss_.on_rtt_probed(now_);
    round(loss);
    ASSERT_TRUE(loss_.trying());
    round(loss);
  }

  PathLoss loss_;
  TimePoint now_ = at(1s);
};

TEST_F(PathLossTest, LearnsASmallLossWithoutADoubt) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(round(0.02), Diagnosis::none);
  EXPECT_NEAR(loss_.value(), 0.02, 0.001);
}

TEST_F(PathLossTest, SlowsDownToTheDeliveredRateWhereMoreIsLost) {
  EXPECT_EQ(round(0.3), Diagnosis::doubt);
  EXPECT_NEAR(static_cast<double>(loss_.carried().bits_per_second()), 70e6, 5e5);
  EXPECT_TRUE(loss_.busy());
  EXPECT_FALSE(loss_.trying()) << "not before the empty path was looked for";
}

TEST_F(PathLossTest, TakesNoPauseOfTheSenderForExcess) {
  EXPECT_EQ(round(0.3, mbit(100), 150ms), Diagnosis::doubt);
  EXPECT_NEAR(static_cast<double>(loss_.carried().bits_per_second()), 70e6, 5e5);
}

TEST_F(PathLossTest, WantsMorePacketsWhereTheyAreLostInRuns) {
  for (int i = 0; i < 32; ++i) std::ignore = round(0.02, mbit(100), 0ms, 12);
  Diagnosis diagnosis = Diagnosis::none;
  int rounds = 0;
  for (; diagnosis == Diagnosis::none && rounds < 8; ++rounds) diagnosis = round(0.4, mbit(50), 0ms, 12);
  EXPECT_EQ(diagnosis, Diagnosis::doubt);
  EXPECT_GE(rounds, 2) << "215 packets of a round trip would tell if each were lost alone";
}

TEST_F(PathLossTest, TakesHalfForRandomAtMost) {
  begin_trial(0.9);
  for (int i = 0; i < 16 && loss_.busy(); ++i) round(0.9);
  EXPECT_FALSE(loss_.busy());
  EXPECT_EQ(loss_.value(), 0.5);
}

TEST_F(PathLossTest, WasExcessWhereTheFirstStepEndsTheLoss) {
  EXPECT_EQ(round(0.3), Diagnosis::doubt);
  round(0.3);
  EXPECT_EQ(round(0), Diagnosis::excess);
  EXPECT_FALSE(loss_.busy());
}

TEST_F(PathLossTest, IsChanceWhereASlowerPaceLosesTheSameShare) {
  begin_trial(0.3);
  EXPECT_EQ(round(0.3, mbit(75)), Diagnosis::chance);
  EXPECT_NEAR(loss_.value(), 0.3, 0.01);
}

TEST_F(PathLossTest, IsExcessWhereASlowerPaceLosesNothing) {
  begin_trial(0.2);
  EXPECT_EQ(round(0, mbit(75)), Diagnosis::excess);
  EXPECT_NEAR(static_cast<double>(loss_.carried().bits_per_second()), 80e6, 1e6) << "what arrived before the trial";
}

TEST_F(PathLossTest, NeedsNoTrialForTheLossOfAProbe) {
  loss_.on_probe(mbit(80));
  EXPECT_EQ(round(0.3), Diagnosis::excess);
  EXPECT_EQ(loss_.carried(), mbit(80));
}

TEST_F(PathLossTest, RestsAfterATrialThatFoundChance) {
  begin_trial(0.2);
  ASSERT_EQ(round(0.2, mbit(75)), Diagnosis::chance);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(round(0.5), Diagnosis::none);
  EXPECT_EQ(round(0.5), Diagnosis::doubt);
}

TEST_F(PathLossTest, IsNotFoundByACancelledTrial) {
  ASSERT_EQ(round(0.3), Diagnosis::doubt);
  EXPECT_TRUE(loss_.cancel());
  EXPECT_FALSE(loss_.busy());
  EXPECT_FALSE(loss_.cancel());
}

TEST_F(PathLossTest, ToleratesSingleLossesOfASmallFlight) {
  EXPECT_EQ(loss_.tolerated_bytes(10 * kPayload, kPayload) / kPayload, 4U);
}

}  // namespace
}  // namespace udtcat::transport::native::test
