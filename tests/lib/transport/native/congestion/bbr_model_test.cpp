// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/bbr_model.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

/// An ACK at `now` of all that was sent until `sent`.
AckEvent acked(Duration now, Duration sent, std::uint64_t total_bytes) {
  AckEvent ack{.now = at(now)};
  ack.delivered_total_bytes = total_bytes;
  ack.newest_sent_at = at(sent);
  return ack;
}

TEST(StartupRate, IsMeasuredOverPartsOfARoundTrip) {
  StartupRate rate;
  rate.on_ack(acked(100ms, 0ms, 0), 100ms);
  rate.on_ack(acked(110ms, 10ms, 10'000), 100ms);
  EXPECT_EQ(rate.value(), BitRate()) << "too little of one";
  rate.on_ack(acked(125ms, 25ms, 25'000), 100ms);
  EXPECT_EQ(rate.value().bytes_per_second(), 1'000'000U);
  rate.on_ack(acked(150ms, 50ms, 100'000), 100ms);
  EXPECT_EQ(rate.value().bytes_per_second(), 3'000'000U);
  rate.on_ack(acked(175ms, 75ms, 110'000), 100ms);
  EXPECT_EQ(rate.value().bytes_per_second(), 3'000'000U) << "the fastest counts";
}

TEST(StartupRate, IsNoFasterThanWhatWasSentNorThanWhatArrived) {
  StartupRate burst;
  burst.on_ack(acked(100ms, 0ms, 0), 100ms);
  burst.on_ack(acked(200ms, 25ms, 100'000), 100ms);
  EXPECT_EQ(burst.value().bytes_per_second(), 1'000'000U) << "a burst into a queue";
  StartupRate batch;
  batch.on_ack(acked(100ms, 0ms, 0), 100ms);
  batch.on_ack(acked(101ms, 50ms, 50'000), 100ms);
  EXPECT_EQ(batch.value().bytes_per_second(), 1'000'000U) << "ACKs that were held back and came together";
}

TEST(StartupRate, StallsWhereThreeQuartersOfARoundTripBringNoQuarterMore) {
  for (const bool app_limited : {false, true}) {
    StartupRate rate;
    for (int part = 0; part < 5; ++part) {
      EXPECT_FALSE(rate.stalls()) << part;
      AckEvent ack = acked(100ms + part * 25ms, part * 25ms, static_cast<std::uint64_t>(part) * 25'000);
      ack.app_limited = app_limited;
      rate.on_ack(ack, 100ms);
    }
    EXPECT_EQ(rate.stalls(), !app_limited) << "with too little to send no rate grows";
    rate.on_ack(acked(225ms, 125ms, 150'000), 100ms);
    EXPECT_FALSE(rate.stalls()) << "it has doubled";
  }
}

TEST(StartupRate, IgnoresRetransmissions) {
  StartupRate rate;
  rate.on_ack(acked(100ms, 0ms, 0), 100ms);
  AckEvent repaired = acked(150ms, 50ms, 50'000);
  repaired.newest_sent_at.reset();
  rate.on_ack(repaired, 100ms);
  EXPECT_EQ(rate.value(), BitRate());
}

TEST(MinRtt, KeepsTheLeast) {
  MinRtt rtt;
  EXPECT_FALSE(rtt.value());
  rtt.update(at(0s), 50ms);
  rtt.update(at(1s), 40ms);
  rtt.update(at(2s), 60ms);
  EXPECT_EQ(rtt.value(), Duration{40ms});
}

TEST(MinRtt, IsDueForAProbeAfterFiveSecondsWithoutAConfirmation) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  rtt.update(at(5s), 60ms);
  EXPECT_FALSE(rtt.probe_due());
  rtt.update(at(5001ms), 60ms);
  EXPECT_TRUE(rtt.probe_due());
  rtt.update(at(5002ms), 60ms);
  EXPECT_FALSE(rtt.probe_due()) << "asked once, and answered by whoever acts on it";
}

TEST(MinRtt, IsConfirmedByASampleALittleAbove) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  rtt.update(at(4s), 40ms + 900us);
  rtt.update(at(8s), 60ms);
  EXPECT_FALSE(rtt.probe_due());
  EXPECT_EQ(rtt.value(), Duration{40ms}) << "confirmed, not raised";
}

TEST(MinRtt, IsNotConfirmedByAQueueOfSomeMilliseconds) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  rtt.update(at(4s), 43ms);
  rtt.update(at(5001ms), 43ms);
  EXPECT_TRUE(rtt.probe_due());
}

TEST(MinRtt, ForgetsAShorterPathInTenSeconds) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  for (auto time = Duration{1s}; time <= 10s; time += 1s) rtt.update(at(time), 80ms);
  EXPECT_EQ(rtt.value(), Duration{40ms});
  rtt.update(at(10'001ms), 90ms);
  EXPECT_EQ(rtt.value(), Duration{80ms}) << "the least since then";
}

TEST(MinRtt, IsKeptInASilence) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  rtt.confirm(at(60s));
  rtt.update(at(60s), 45ms);
  EXPECT_FALSE(rtt.probe_due());
  EXPECT_EQ(rtt.value(), Duration{40ms});
}

constexpr std::uint64_t kWindow = 1'000'000;

TEST(AckAggregation, IsTheExcessOfABatchOverTheRate) {
  AckAggregation acks;
  acks.restart(at(0ms));
  // 8 Mbit/s are 1000 bytes a millisecond. They come every 10 ms, so that the first is early by its whole size.
  for (int batch = 1; batch <= 20; ++batch) acks.on_ack(at(batch * 10ms), 10'000, mbit(8), kWindow);
  EXPECT_EQ(acks.extra_bytes(), 10'000U);
}

TEST(AckAggregation, IsSmallIfAcksComeSingly) {
  AckAggregation acks;
  acks.restart(at(0ms));
  for (int packet = 1; packet <= 200; ++packet) acks.on_ack(at(packet * 1ms), 1'000, mbit(8), kWindow);
  EXPECT_LE(acks.extra_bytes(), 1'000U);
}

TEST(AckAggregation, IsForgottenAfterTenRoundTrips) {
  AckAggregation acks;
  acks.on_ack(at(10ms), 50'000, mbit(8), kWindow);
  EXPECT_EQ(acks.extra_bytes(), 50'000U);
  for (int round = 1; round <= 10; ++round) {
    acks.on_ack(at(10ms + round * 100ms), 1'000, mbit(8), kWindow);
    acks.on_round_trip(false);
  }
  EXPECT_EQ(acks.extra_bytes(), 1'000U);
}

TEST(AckAggregation, IsForgottenSoonWhileTheRateStillDoubles) {
  AckAggregation acks;
  acks.on_ack(at(10ms), 50'000, mbit(8), kWindow);
  acks.on_round_trip(true);
  acks.on_ack(at(110ms), 1'000, mbit(8), kWindow);
  acks.on_round_trip(true);
  EXPECT_EQ(acks.extra_bytes(), 1'000U);
}

TEST(AckAggregation, IsBoundedByTheWindowAndATenthOfASecond) {
  AckAggregation acks;
  acks.on_ack(at(10ms), 500'000, mbit(8), 20'000);
  EXPECT_EQ(acks.extra_bytes(), 20'000U);
  AckAggregation slow;
  slow.on_ack(at(10ms), 500'000, mbit(8), kWindow);
  EXPECT_EQ(slow.extra_bytes(), 100'000U);
}

constexpr std::uint64_t kModelWindow = 2'000'000;

/// One round trip a call.
class BbrModelTest : public testing::Test {
 protected:
  void round(BitRate rate, Duration rtt, double loss = 0, BbrModel::Phase phase = {.steady = true}) {
    now_ += rtt;
    const auto bytes = bytes_during(rate, rtt);
    const auto lost = scaled(bytes, loss / (1 - loss));
    model_.on_loss(LossEvent{.lost_bytes = lost});
    AckEvent ack{.now = now_, .newly_delivered_bytes = bytes};
    sample_ = RateSample{.delivered_bytes = bytes, .interval = rtt, .prior_delivered_bytes = delivered_};
    sample_.in_flight_at_send_bytes = bytes + lost;
    sample_.lost_bytes = lost;
    delivered_ += bytes;
    ack.delivered_total_bytes = delivered_;
    ack.rtt = rtt;
    ack.rate = sample_;
    ASSERT_TRUE(model_.on_ack(ack, phase, kModelWindow));
  }

  BbrModel model_{kPayload};
  RateSample sample_;
  TimePoint now_{};
  std::uint64_t delivered_ = 0;
};

TEST_F(BbrModelTest, IgnoresASampleShorterThanAnyRoundTrip) {
  round(mbit(100), 50ms);
  AckEvent ack{.now = now_ + 1ms, .newly_delivered_bytes = 1'000'000, .delivered_total_bytes = delivered_ + 1'000'000};
  ack.rate = RateSample{.delivered_bytes = 1'000'000, .interval = 10ms, .prior_delivered_bytes = delivered_};
  std::ignore = model_.on_ack(ack, {.steady = true}, kModelWindow);
  EXPECT_EQ(model_.max_bandwidth(), mbit(100)) << "the answer was to an earlier copy";
}

TEST_F(BbrModelTest, KnowsTheBandwidthOfTwoCycles) {
  round(mbit(100), 50ms);
  model_.end_bandwidth_cycle();
  round(mbit(80), 50ms);
  EXPECT_EQ(model_.max_bandwidth(), mbit(100));
  model_.end_bandwidth_cycle();
  EXPECT_EQ(model_.max_bandwidth(), mbit(80));
  model_.end_bandwidth_cycle();
  EXPECT_EQ(model_.max_bandwidth(), mbit(80)) << "a cycle that saw nothing does not count";
  EXPECT_EQ(model_.bdp_bytes(mbit(80)), 500'000U);
}

TEST_F(BbrModelTest, LeavesTheRateAloneWhenPacketsAreLostAtRandom) {
  for (int i = 0; i < 100; ++i) round(mbit(100), 50ms, i % 2 == 0 ? 0.05 : 0.01);
  EXPECT_EQ(model_.bandwidth(), mbit(100));
  EXPECT_EQ(model_.short_term_bytes(), kUnbounded);
  EXPECT_FALSE(model_.in_flight_too_high(sample_));
}

TEST_F(BbrModelTest, AddsRandomLossToTheDeliveredRate) {
  for (int i = 0; i < 100; ++i) round(mbit(100), 50ms, 0.03);
  EXPECT_NEAR(static_cast<double>(model_.sent_for(mbit(97)).bits_per_second()), 100e6, 0.2e6);
}

TEST_F(BbrModelTest, TakesLossForRandomThatIsTheSameAtASlowerPaceAfterAProbeOfTheRoundTrip) {
  for (int i = 0; i < 100; ++i) round(mbit(70), 50ms, 0.3);
  EXPECT_TRUE(model_.wants_rtt()) << "a queue that was full from the beginning would lose as much";
  EXPECT_FALSE(model_.tries_slower());
  model_.on_rtt_probed(now_);
  for (int i = 0; i < 10; ++i) round(mbit(70), 50ms, 0.3);
  EXPECT_FALSE(model_.doubts_loss());
  EXPECT_NEAR(static_cast<double>(model_.sent_for(mbit(70)).bits_per_second()), 100e6, 0.5e6);
}

TEST_F(BbrModelTest, TakesTheDeliveredRateForTheBandwidthWhereAtThatPaceNothingIsLost) {
  round(mbit(100), 50ms);
  round(mbit(80), 50ms, 0.2);
  EXPECT_TRUE(model_.doubts_loss());
  EXPECT_LT(model_.bandwidth(), mbit(100));
  round(mbit(80), 50ms, 0.2);
  for (int i = 0; i < 3; ++i) round(mbit(80), 50ms);
  EXPECT_FALSE(model_.doubts_loss());
  EXPECT_LE(model_.max_bandwidth(), mbit(81));
}

TEST_F(BbrModelTest, TakesTheDeliveredRateForTheBandwidthWhereAtASlowerPaceNothingIsLost) {
  round(mbit(100), 50ms);
  for (int i = 0; i < 4; ++i) round(mbit(80), 50ms, 0.2);
  model_.on_rtt_probed(now_);
  for (int i = 0; i < 10 && !model_.tries_slower(); ++i) round(mbit(80), 50ms, 0.2);
  ASSERT_TRUE(model_.tries_slower());
  round(mbit(80), 50ms, 0.2);
  for (int i = 0; i < 10 && model_.tries_slower(); ++i) round(mbit(60), 50ms);
  EXPECT_FALSE(model_.tries_slower());
  EXPECT_LE(model_.max_bandwidth(), mbit(81));
}

TEST_F(BbrModelTest, TakesLossOfHalfForExcessInTwoRoundTripsInARow) {
  for (int i = 0; i < 10; ++i) {
    round(mbit(100), 50ms);
    round(mbit(40), 50ms, 0.6);
    EXPECT_EQ(model_.max_bandwidth(), mbit(100)) << "bursts may lose as much of one";
  }
  round(mbit(40), 50ms, 0.6);
  EXPECT_LE(model_.max_bandwidth(), mbit(45));
}

TEST_F(BbrModelTest, SeesThatThePathBecameLongerDuringAProbe) {
  for (int i = 0; i < 10; ++i) round(mbit(100), 30ms);
  for (const Duration rtt : {45ms, 60ms, 75ms, 85ms, 61ms, 60ms, 61ms, 60ms}) round(mbit(100), rtt);
  EXPECT_TRUE(model_.path_seems_longer());
}

TEST_F(BbrModelTest, ForgetsAJumpThatIsNotSteadyWithinSixteenRoundTrips) {
  for (int i = 0; i < 10; ++i) round(mbit(100), 30ms);
  round(mbit(100), 60ms);
  for (int i = 0; i < 9; ++i) {
    round(mbit(100), 80ms);
    round(mbit(100), 95ms);
  }
  for (int i = 0; i < 4; ++i) round(mbit(100), 90ms);
  EXPECT_FALSE(model_.path_seems_longer()) << "a queue that others fill";
}

TEST_F(BbrModelTest, TakesLossForCongestionWhileAQueueStands) {
  round(mbit(100), 50ms);
  for (int i = 0; i < 2; ++i) round(mbit(100), 90ms);
  EXPECT_FALSE(model_.queue_overflowed());
  round(mbit(100), 90ms, 0.01);
  EXPECT_TRUE(model_.queue_overflowed());
  EXPECT_TRUE(model_.in_flight_too_high(sample_));
  EXPECT_EQ(model_.bandwidth(), mbit(85));
  model_.forget_short_term();
  EXPECT_EQ(model_.bandwidth(), mbit(100));
}

TEST_F(BbrModelTest, DoesNotGiveWayToUnresponsiveFlowsOrToItself) {
  round(mbit(100), 50ms);
  for (int i = 0; i < 10; ++i) round(mbit(100), 90ms, 0.01, {.unresponsive_flows = true});
  EXPECT_EQ(model_.bandwidth(), mbit(100));
  for (int i = 0; i < 10; ++i) round(mbit(100), 90ms, 0.01, {.own_queue = true});
  EXPECT_EQ(model_.bandwidth(), mbit(100));
}

TEST_F(BbrModelTest, GivesWayEvenToUnresponsiveFlowsWhereOneInTwelveIsLost) {
  round(mbit(100), 50ms);
  for (int i = 0; i < 2; ++i) round(mbit(100), 90ms);
  round(mbit(100), 90ms, 0.08, {.unresponsive_flows = true});
  EXPECT_TRUE(model_.in_flight_too_high(sample_));
  EXPECT_LT(model_.bandwidth(), mbit(100));
}

TEST_F(BbrModelTest, IgnoresSingleLossesOfASmallFlight) {
  round(BitRate::from_bytes_per(10 * kPayload, 50ms), 50ms, 0.28);
  EXPECT_FALSE(model_.in_flight_too_high(sample_));
}

TEST_F(BbrModelTest, CountsAtLeastAMillisecondBetweenHosts) {
  round(mbit(8'000), 100us);
  EXPECT_TRUE(model_.host_bound());
  EXPECT_EQ(model_.bdp_bytes(mbit(8'000)), 1'000'000U);
}

TEST_F(BbrModelTest, KeepsTheModelInASilence) {
  round(mbit(100), 50ms);
  for (int i = 0; i < 3; ++i) round(mbit(100), 90ms, 0.05);
  model_.on_silence(now_ + 60s);
  EXPECT_EQ(model_.bandwidth(), mbit(100));
  EXPECT_EQ(model_.min_rtt().value(), Duration{50ms});
}

}  // namespace
}  // namespace udtcat::transport::native::test
