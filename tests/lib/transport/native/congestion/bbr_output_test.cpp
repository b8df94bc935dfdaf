// SPDX-License-Identifier: Apache-2.0
/// The rate and the window of class Bbr.
#include <gtest/gtest.h>

#include "lib/transport/native/congestion/bbr.hpp"
#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

TEST(BbrOutput, PacesSixtyFourPacketsOverAMillisecondUntilItKnowsTheRoundTrip) {
  Bbr control(kPayload, at(0s), 1);
  EXPECT_NEAR(static_cast<double>(control.pacing_rate().bytes_per_second()), 2.77 * 64'000 * 1'000, 1'000);
  Rounds rounds(control, 200ms);
  rounds.deliver(BitRate::from_bytes_per(10 * kPayload, 200ms));
  EXPECT_NEAR(static_cast<double>(control.pacing_rate().bytes_per_second()), 2.77 * 64'000 * 5, 1'000);
}

TEST(BbrOutput, HoldsTwoBandwidthDelayProductsAndABatch) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control, 100ms);
  for (int round = 0; round < 10; ++round) rounds.deliver(mbit(80));
  // One ACK a round trip: a batch is as large as the product.
  EXPECT_NEAR(static_cast<double>(control.window_bytes()), 3'000'000, 10'000);
}

TEST(BbrOutput, HoldsAWindowForBothHostsOnAShortPath) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control, 100us);
  for (int round = 0; round < 50; ++round) rounds.deliver(mbit(10'000));
  EXPECT_GE(control.window_bytes(), 2'400'000U);
  for (int round = 0; round < 50; ++round) rounds.deliver(mbit(10'000), 100'000);
  EXPECT_GE(control.window_bytes(), 2'400'000U) << "nor does loss take it away";
}

TEST(BbrOutput, LeavesAWindowForABatchOfAcksHoweverMuchIsLost) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control, 2ms);
  for (int round = 0; round < 10; ++round) rounds.deliver(mbit(80));
  const auto window = control.window_bytes();
  for (int round = 0; round < 1'000; ++round) rounds.deliver(mbit(80), 20'000);
  EXPECT_LT(window, 100'000U) << "what may arrive in ten milliseconds, the time from ACK to ACK";
  EXPECT_GE(control.window_bytes(), scaled(window, 0.75)) << "three quarters of it, for a trial";
}

TEST(BbrOutput, HoldsTwoBatchesOfALibudtReceiverHoweverSlowThePathSeems) {
  Bbr control(kPayload, at(0s), 1, 64);
  Rounds rounds(control, 1ms);
  rounds.deliver(mbit(10'000));
  for (int round = 0; round < 50; ++round) rounds.deliver(mbit(5), 100);
  EXPECT_GE(control.window_bytes(), 128 * kPayload);
  control.on_timeout(at(10s));
  EXPECT_LT(control.window_bytes(), 10 * kPayload) << "into silence no more than any other";
}

TEST(BbrOutput, TakesPacketsOfAlmost64KiB) {
  Bbr control(65'000, at(0s), 1);
  control.on_sent(at(0s), 65'000, 0);
  EXPECT_GE(control.window_bytes(), 4 * 65'000U);
}

TEST(BbrOutput, SendsMoreThanItDeliversWherePacketsAreLostAtRandom) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control, 20ms);
  for (int round = 0; round < 60; ++round) rounds.deliver(mbit(80), 6'000);
  ASSERT_EQ(control.state(), Bbr::State::probe_cruise);
  EXPECT_GT(control.pacing_rate(), mbit(80));
}

}  // namespace
}  // namespace udtcat::transport::native::test
