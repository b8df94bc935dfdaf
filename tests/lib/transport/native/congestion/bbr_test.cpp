// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/bbr.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/bottleneck.hpp"
#include "lib/transport/native/congestion/events.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native::test {
namespace {

/// A buffer of `buffer` bandwidth-delay products.
Path path_of(BitRate rate, Duration rtt, double loss = 0, double buffer = 1) {
  return {.rate = rate, .rtt = rtt, .buffer_bytes = scaled(bytes_during(rate, rtt), buffer), .loss = loss};
}

/// Which part of the path one flow uses from `from` to `end`.
double use(const Path& path, Duration end, Duration from = {}) {
  Bottleneck bottleneck(path);
  const auto& flow = bottleneck.add(CongestionKind::bbr);
  bottleneck.run_until(from);
  const auto before = flow.delivered_bytes();
  bottleneck.run_until(end);
  return share(path, flow.delivered_bytes() - before, end - from);
}

/// How many round trips pass until one delivers nine tenths of the path.
int rounds_to_full(Bottleneck& bottleneck, const Flow& flow, Duration start) {
  const auto rtt = bottleneck.path().rtt;
  for (int round = 1; round < 100; ++round) {
    const auto before = flow.delivered_bytes();
    bottleneck.run_until(start + round * rtt);
    if (share(bottleneck.path(), flow.delivered_bytes() - before, rtt) >= 0.9) return round;
  }
  return 100;
}

TEST(Bbr, KeepsTwiceInFlightWhatWasDeliveredWhileTheBandwidthGrows) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  EXPECT_EQ(control.window_bytes(), 10 * kPayload);
  rounds.deliver(BitRate::from_bytes_per(10 * kPayload, 100ms));
  EXPECT_GE(control.window_bytes(), 20 * kPayload);
  EXPECT_LE(control.window_bytes(), 30 * kPayload) << "and what may come at once in an ACK";
  EXPECT_NEAR(static_cast<double>(control.pacing_rate().bytes_per_second()), 2.77 * 640'000, 10'000);
}

TEST(Bbr, EndsItsStartupWhereItFillsThePathAlthoughItsWriterPausesForMoments) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  for (unsigned rate = 1; rate <= 8; rate *= 2) rounds.deliver(mbit(rate), 0, true);
  EXPECT_EQ(control.state(), Bbr::State::startup);
  rounds.set_rtt(300ms);  // a queue of two bandwidth-delay products
  for (int round = 0; round < 6; ++round) rounds.deliver(mbit(8), 0, true);
  EXPECT_NE(control.state(), Bbr::State::startup);
}

TEST(Bbr, StaysInItsStartupWhereItsWriterHasTooLittleAndOthersMadeTheQueue) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  for (unsigned rate = 1; rate <= 8; rate *= 2) rounds.deliver(mbit(rate), 0, true);
  rounds.set_rtt(300ms);
  for (int round = 0; round < 6; ++round) rounds.deliver(mbit(1), 0, true);
  EXPECT_EQ(control.state(), Bbr::State::startup);
}

/// A flow that knows the path as `known`.
Flow& add_knowing(Bottleneck& bottleneck, const KnownPath& known) {
  auto control = std::make_unique<Bbr>(bottleneck.path().packet_bytes, at(0s), 1);
  control->resume(known);
  return bottleneck.add(std::move(control));
}

TEST(Bbr, BeginsWhereItWasOnAPathThatItKnows) {
  auto path = path_of(mbit(10'000), 75ms);
  path.packet_bytes = 2'912;
  Bottleneck bottleneck(path);
  const auto& flow = add_knowing(bottleneck, {.rate = path.rate, .rtt = 75ms});
  EXPECT_LE(rounds_to_full(bottleneck, flow, {}), 5);
}

TEST(Bbr, GivesWayAtOnceWhereAKnownPathHasBecomeSlower) {
  auto path = path_of(mbit(100), 75ms);
  Bottleneck bottleneck(path);
  const auto& flow = add_knowing(bottleneck, {.rate = mbit(1'000), .rtt = 75ms});
  bottleneck.run_until(3s);
  // A round trip of half the rate that was known, and no more.
  EXPECT_LE(flow.lost_bytes(), bytes_during(mbit(500), 150ms));
  EXPECT_GE(share(path, flow.delivered_bytes(), 3s), 0.8);
}

TEST(Bbr, IgnoresAKnownRateOfAnotherRoundTrip) {
  for (const auto rtt : {20ms, 300ms}) {
    Bbr control(kPayload, at(0s), 1);
    control.resume({.rate = mbit(1'000), .rtt = rtt});
    Rounds rounds(control);
    rounds.deliver(BitRate::from_bytes_per(10 * kPayload, 100ms));
    EXPECT_LT(control.pacing_rate(), mbit(20)) << rtt.count();
  }
}

TEST(Bbr, PassesOnThePathToTheNextConnection) {
  Bbr control(kPayload, at(0s), 1);
  EXPECT_FALSE(control.known_path());
  Rounds rounds(control);
  rounds.deliver(mbit(40));
  ASSERT_TRUE(control.known_path());
  EXPECT_EQ(control.known_path()->rate, mbit(40));
  EXPECT_EQ(control.known_path()->rtt, 100ms);
}

TEST(Bbr, PassesOnNothingOfAPathThatItDidNotFill) {
  Bbr control(kPayload, at(0s), 1);
  control.resume({.rate = mbit(1'000), .rtt = 100ms});
  Rounds rounds(control);
  rounds.deliver(mbit(40), 0, true);
  EXPECT_FALSE(control.known_path());
}

TEST(Bbr, PassesOnOnlyWhatItMeasuredOnTheLastPath) {
  Bbr control(kPayload, at(0s), 1);
  control.resume({.rate = mbit(1'000), .rtt = 10ms});
  Rounds rounds(control);
  rounds.deliver(mbit(40), 0, true);
  EXPECT_EQ(control.known_path()->rate, mbit(40));
  EXPECT_EQ(control.known_path()->rtt, 100ms);
}

TEST(Bbr, EndsAJumpThatTheWriterOrThePeerLimited) {
  Bbr control(kPayload, at(0s), 1);
  control.resume({.rate = mbit(1'000), .rtt = 100ms});
  Rounds rounds(control);
  rounds.deliver(mbit(4), 0, true);
  EXPECT_GE(control.pacing_rate(), mbit(500));
  for (int round = 0; round < 20; ++round) rounds.deliver(mbit(4), 0, true);
  EXPECT_LT(control.window_bytes(), bytes_during(mbit(50), 100ms)) << "later bursts do not go on with it";
}

TEST(Bbr, EndsAJumpInASilenceAtTheDeliveredRate) {
  Bbr control(kPayload, at(0s), 1);
  control.resume({.rate = mbit(1'000), .rtt = 100ms});
  Rounds rounds(control);
  rounds.deliver(mbit(4));
  EXPECT_GE(control.window_bytes(), bytes_during(mbit(500), 100ms));
  control.on_timeout(rounds.now());
  rounds.deliver(mbit(4));
  EXPECT_LT(control.window_bytes(), bytes_during(mbit(50), 100ms));
}

TEST(Bbr, LeavesStartupAfterThreeRoundTripsWithoutAQuarterMore) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  rounds.set_in_flight(100'000'000);
  for (const unsigned rate : {10U, 20U, 40U, 80U, 90U, 95U}) rounds.deliver(mbit(rate));
  EXPECT_EQ(control.state(), Bbr::State::startup);
  rounds.deliver(mbit(96));
  EXPECT_EQ(control.state(), Bbr::State::drain);
  rounds.set_in_flight(0);
  rounds.deliver(mbit(96));
  EXPECT_EQ(control.state(), Bbr::State::probe_cruise);
}

TEST(Bbr, LeavesStartupWhenMostOfARoundTripIsLost) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  rounds.set_in_flight(100'000'000);
  rounds.deliver(mbit(40), 200'000);
  rounds.deliver(mbit(80), 400'000);
  EXPECT_EQ(control.state(), Bbr::State::startup) << "it may be chance, and twice as much arrived";
  rounds.deliver(mbit(90), 1'500'000);
  EXPECT_EQ(control.state(), Bbr::State::drain);
}

TEST(Bbr, LeavesStartupAtTheFirstOverloadOfTheReceivingHost) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  rounds.set_in_flight(100'000'000);
  rounds.deliver(mbit(40));
  EXPECT_EQ(control.state(), Bbr::State::startup);
  rounds.change_acks([](AckEvent& ack) { ack.host_overloaded = true; });
  rounds.deliver(mbit(80), 10'000);
  EXPECT_EQ(control.state(), Bbr::State::drain);
}

TEST(Bbr, SendsLessThanArrivedWhileTheReceivingHostIsOverloaded) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  for (int round = 0; round < 20; ++round) rounds.deliver(mbit(80));
  ASSERT_EQ(control.state(), Bbr::State::probe_cruise);
  rounds.change_acks([](AckEvent& ack) { ack.host_overloaded = true; });
  rounds.deliver(mbit(80), 10'000);
  rounds.deliver(mbit(80), 10'000);
  EXPECT_LT(control.pacing_rate(), mbit(77));
  EXPECT_GT(control.pacing_rate(), mbit(70));
}

TEST(Bbr, StaysInStartupWhileTheApplicationHasLittleToSend) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  for (int round = 0; round < 20; ++round) rounds.deliver(mbit(1), 0, true);
  EXPECT_EQ(control.state(), Bbr::State::startup);
}

TEST(Bbr, ProbesTheRoundTripWithHalfAWindow) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  for (int round = 0; round < 10; ++round) rounds.deliver(mbit(80));
  rounds.set_rtt(150ms);
  while (control.state() != Bbr::State::probe_rtt && rounds.now() < at(20s)) rounds.deliver(mbit(80));
  ASSERT_LT(rounds.now(), at(7s));
  EXPECT_EQ(control.window_bytes(), 500'000U) << "half of 80 Mbit/s for 100 ms";
  const auto start = rounds.now();
  while (control.state() == Bbr::State::probe_rtt && rounds.now() < at(20s)) rounds.deliver(mbit(40));
  EXPECT_GE(rounds.now() - start, 150ms) << "a round trip";
  EXPECT_LE(rounds.now() - start, 600ms);
  EXPECT_GT(control.window_bytes(), 1'000'000U);
}

TEST(Bbr, NeverProbesTheRoundTripIfItsQueueDrainsByItself) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  for (int round = 0; round < 600; ++round) {
    rounds.set_rtt(120ms - round % 5 * 5ms);
    rounds.deliver(mbit(80));
    ASSERT_NE(control.state(), Bbr::State::probe_rtt);
  }
}

TEST(Bbr, ShrinksToAFewPacketsInASilenceAndGoesOnAsBefore) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  for (int round = 0; round < 10; ++round) rounds.deliver(mbit(80));
  const auto window = control.window_bytes();
  for (int timeout = 0; timeout < 20; ++timeout) {
    rounds.pass(2s);
    control.on_timeout(rounds.now());
    EXPECT_EQ(control.window_bytes(), 4 * kPayload);
  }
  rounds.deliver(BitRate::from_bytes_per(4 * kPayload, 100ms));
  EXPECT_GE(control.window_bytes(), window - 100'000);
  EXPECT_GE(control.pacing_rate(), mbit(75));
}

TEST(Bbr, StartsAfterIdleTimeAtTheKnownRate) {
  Bbr control(kPayload, at(0s), 1);
  Rounds rounds(control);
  for (int round = 0; round < 10; ++round) rounds.deliver(mbit(80));
  rounds.deliver(mbit(1), 0, true);
  rounds.pass(3s);
  control.on_sent(rounds.now(), kPayload, 0);
  EXPECT_NEAR(static_cast<double>(control.pacing_rate().bits_per_second()), 79.2e6, 1e6);
}

TEST(Bbr, FillsACleanPath) { EXPECT_GE(use(path_of(mbit(100), 26ms), 10s), 0.95); }

TEST(Bbr, FillsAPathThatLosesPackets) {
  EXPECT_GE(use(path_of(mbit(1'000), 75ms, 0.01), 10s, 2s), 0.95);
  EXPECT_GE(use(path_of(mbit(1'000), 75ms, 0.02), 10s, 2s), 0.95);
  // 0.97 is all that can arrive of one attempt to send each byte of the link's rate.
  EXPECT_GE(use(path_of(mbit(1'000), 75ms, 0.03), 10s, 2s), 0.95);
}

TEST(Bbr, FillsAFastLongPathThatLosesFewPackets) {
  auto path = path_of(mbit(10'000), 75ms, 0.001);
  path.packet_bytes = 16 * kKiB;  // trains, to be quick
  EXPECT_GE(use(path, 15s), 0.9);
}

TEST(Bbr, FillsAPathWithAShallowBuffer) {
  EXPECT_GE(use(path_of(mbit(1'000), 20ms, 0, 0.1), 10s), 0.89);
  EXPECT_GE(use(path_of(mbit(1'000), 75ms, 0.01, 0.25), 10s, 2s), 0.95);
}

TEST(Bbr, FillsALanWhoseHostsPause) {
  auto path = path_of(mbit(10'000), 100us);
  path.packet_bytes = 4'368;
  path.buffer_bytes = 8 * kMiB;
  path.ack_jitter = 4ms;
  EXPECT_GE(use(path, 3s, 500ms), 0.95);
}

TEST(Bbr, FillsALanWhoseReceiverHasASmallBuffer) {
  auto path = path_of(mbit(1'000), 200us);
  path.buffer_bytes = 64 * kKiB;
  EXPECT_GE(use(path, 3s, 500ms), 0.95);
}

TEST(Bbr, IsFastWithinTwelveRoundTrips) {
  auto path = path_of(mbit(10'000), 75ms);
  path.packet_bytes = 2'912;
  Bottleneck bottleneck(path);
  const auto& flow = bottleneck.add(CongestionKind::bbr);
  EXPECT_LE(rounds_to_full(bottleneck, flow, {}), 12);
}

TEST(Bbr, IsFastAgainWithinTenRoundTripsOfAnOutage) {
  Bottleneck bottleneck(path_of(mbit(1'000), 75ms, 0.001));
  const auto& flow = bottleneck.add(CongestionKind::bbr);
  bottleneck.run_until(5s);
  bottleneck.cut(true);
  bottleneck.run_until(65s);
  bottleneck.cut(false);
  const auto before = flow.delivered_bytes();
  auto back = Duration{65s};
  while (flow.delivered_bytes() == before) bottleneck.run_until(back += 5ms);
  EXPECT_LE(rounds_to_full(bottleneck, flow, back), 10);
}

TEST(Bbr, FollowsAPathThatBecomesSlowerAndFasterAgain) {
  Bottleneck bottleneck(path_of(mbit(1'000), 20ms));
  const auto& flow = bottleneck.add(CongestionKind::bbr);
  bottleneck.run_until(5s);
  bottleneck.change_rate(mbit(200));
  bottleneck.run_until(10s);
  auto before = flow.delivered_bytes();
  const auto lost = flow.lost_bytes();
  bottleneck.run_until(15s);
  EXPECT_GE(share(bottleneck.path(), flow.delivered_bytes() - before, 5s), 0.95);
  EXPECT_LE(flow.lost_bytes() - lost, (flow.delivered_bytes() - before) / 20);
  bottleneck.change_rate(mbit(1'000));
  bottleneck.run_until(25s);
  before = flow.delivered_bytes();
  bottleneck.run_until(30s);
  EXPECT_GE(share(bottleneck.path(), flow.delivered_bytes() - before, 5s), 0.95);
}

/// The mean queue between 2 and 20 s, in bandwidth-delay products.
double mean_queue(const Path& path) {
  Bottleneck bottleneck(path);
  bottleneck.add(CongestionKind::bbr);
  bottleneck.run_until(2s);
  double queued = 0;
  for (int sample = 1; sample <= 1'000; ++sample) {
    bottleneck.run_until(2s + sample * 18ms);
    queued += static_cast<double>(bottleneck.queued_bytes());
  }
  return queued / 1'000 / static_cast<double>(bottleneck.bdp_bytes());
}

// The fastest sample is then of ACKs that came together, and faster than the path.
TEST(Bbr, BuildsNoStandingQueueWhereAcksComeTogether) {
  Path path = path_of(mbit(100), 26ms, 0, 20);
  path.ack_jitter = 6ms;
  const double queue = mean_queue(path);
  EXPECT_LE(queue, 0.3);
  EXPECT_GE(use(path, 20s, 2s), 0.95);
}

TEST(Bbr, BuildsNoStandingQueue) {
  Bottleneck bottleneck(path_of(mbit(100), 26ms, 0, 20));
  bottleneck.add(CongestionKind::bbr);
  bottleneck.run_until(2s);
  double queued = 0;
  for (int sample = 1; sample <= 1'000; ++sample) {
    bottleneck.run_until(2s + sample * 18ms);
    queued += static_cast<double>(bottleneck.queued_bytes());
    ASSERT_LE(bottleneck.queued_bytes(), 2 * bottleneck.bdp_bytes());
  }
  EXPECT_LE(queued / 1'000, 0.25 * static_cast<double>(bottleneck.bdp_bytes()));
}

}  // namespace
}  // namespace udtcat::transport::native::test
