// SPDX-License-Identifier: Apache-2.0
/// The cycle of probes of class Bbr, and what it means for others on the same path.
#include <algorithm>
#include <memory>
#include <tuple>

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/bbr.hpp"
#include "lib/transport/native/congestion/bbr_v1.hpp"
#include "lib/transport/native/congestion/bottleneck.hpp"
#include "lib/transport/native/congestion/cubic.hpp"
#include "lib/transport/native/congestion/events.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native::test {
namespace {

using State = Bbr::State;

/// A flow that has found 80 Mbit/s at 100 ms, and cruises after the probe that comes soon after a startup.
class BbrProbeBandwidth : public testing::Test {
 protected:
  void SetUp() override {
    for (int round = 0; round < 20; ++round) rounds_.deliver(mbit(80));
    ASSERT_EQ(control_.state(), State::probe_cruise);
  }
  void deliver_until(State state, BitRate rate = mbit(80)) {
    for (int round = 0; round < 100 && control_.state() != state; ++round) rounds_.deliver(rate);
    ASSERT_EQ(control_.state(), state);
  }
  [[nodiscard]] double pacing_gain() const {
    return static_cast<double>(control_.pacing_rate().bits_per_second()) / 80e6 / 0.99;
  }

  Bbr control_{kPayload, at(0s), 1};
  Rounds rounds_{control_};
};

TEST_F(BbrProbeBandwidth, ComesEveryTwoToThreeSeconds) {
  deliver_until(State::probe_up);
  for (int cycle = 0; cycle < 5; ++cycle) {
    deliver_until(State::probe_cruise);
    const auto start = rounds_.now();
    deliver_until(State::probe_refill);
    EXPECT_GE(rounds_.now() - start, 1'800ms);
    EXPECT_LE(rounds_.now() - start, 3'200ms);
  }
}

TEST_F(BbrProbeBandwidth, RefillsForARoundTripThenProbesAQuarterMoreThenDrains) {
  EXPECT_NEAR(pacing_gain(), 1, 0.01);
  deliver_until(State::probe_refill);
  EXPECT_NEAR(pacing_gain(), 1, 0.01);
  rounds_.deliver(mbit(80));
  ASSERT_EQ(control_.state(), State::probe_up);
  EXPECT_NEAR(pacing_gain(), 1.25, 0.01);
  rounds_.set_in_flight(2'000'000);
  deliver_until(State::probe_down);
  EXPECT_NEAR(pacing_gain(), 0.9, 0.01);
  rounds_.set_in_flight(900'000);
  deliver_until(State::probe_cruise);
}

TEST_F(BbrProbeBandwidth, FindsABandwidthThatGrew) {
  deliver_until(State::probe_up);
  for (int round = 0; round < 8; ++round) rounds_.deliver(std::min(mbit(300), control_.pacing_rate()));
  EXPECT_GE(control_.pacing_rate(), mbit(300));
}

TEST_F(BbrProbeBandwidth, ForgetsABandwidthAfterTwoCycles) {
  for (int round = 0; round < 100; ++round) rounds_.deliver(mbit(40));
  EXPECT_LE(control_.pacing_rate(), mbit(50));
}

TEST_F(BbrProbeBandwidth, EndsAtTheFlightThatOverflowedTheQueueAndLeavesHeadroom) {
  deliver_until(State::probe_up);
  rounds_.set_in_flight(2'000'000);
  rounds_.set_rtt(140ms);
  for (int round = 0; round < 2; ++round) rounds_.deliver(mbit(80));
  rounds_.deliver(mbit(80), 200'000);
  EXPECT_EQ(control_.state(), State::probe_down);
  EXPECT_EQ(control_.window_bytes(), 1'600'000U);
  rounds_.set_in_flight(900'000);
  deliver_until(State::probe_cruise);
  EXPECT_EQ(control_.window_bytes(), 1'360'000U) << "0.85 of it";
}

TEST_F(BbrProbeBandwidth, ComesSoonAgainAfterOneThatFoundMuchMore) {
  deliver_until(State::probe_up);
  for (int round = 0; round < 8; ++round) rounds_.deliver(std::min(mbit(300), control_.pacing_rate()));
  for (int probe = 0; probe < 3; ++probe) {
    deliver_until(State::probe_cruise, mbit(300));
    const auto start = rounds_.now();
    deliver_until(State::probe_refill, mbit(300));
    EXPECT_LE(rounds_.now() - start, 1s) << "probe " << probe;
  }
  deliver_until(State::probe_cruise, mbit(300));
  const auto start = rounds_.now();
  deliver_until(State::probe_refill, mbit(300));
  EXPECT_GE(rounds_.now() - start, 1800ms) << "three have found nothing";
}

TEST_F(BbrProbeBandwidth, GoesOnWhenPacketsAreLostAtRandom) {
  deliver_until(State::probe_up);
  rounds_.deliver(mbit(80), 20'000);
  EXPECT_EQ(control_.state(), State::probe_up);
}

/// A gigabit, 20 ms, a drop-tail buffer of one bandwidth-delay product, shared for a minute.
class BbrNextTo : public testing::TestWithParam<std::tuple<Duration, std::uint32_t>> {
 protected:
  using Control = std::unique_ptr<CongestionControl>;

  [[nodiscard]] Control make(CongestionKind kind, std::uint32_t seed) const {
    return make_congestion_control({.kind = kind, .random_seed = seed}, path_.packet_bytes, {});
  }
  /// `ours` begins first, or so much later as the other would begin.
  std::pair<double, double> run(Control ours, Control others) {
    const auto [late, seed] = GetParam();
    Bottleneck bottleneck(path_, seed);
    const auto& our_flow = bottleneck.add(std::move(ours), at(std::max(Duration{0}, -late)));
    const auto& other_flow = bottleneck.add(std::move(others), at(std::max(Duration{0}, late)));
    bottleneck.run_until(60s);
    return {share(path_, our_flow.delivered_bytes(), 60s), share(path_, other_flow.delivered_bytes(), 60s)};
  }

  Path path_{.rate = mbit(1'000), .rtt = 20ms, .buffer_bytes = 2'500'000, .packet_bytes = 2'912};
};

TEST_P(BbrNextTo, CubicLeavesAndGetsNearlyAQuarter) {
  const auto [ours, others] = run(make(CongestionKind::bbr, 11), std::make_unique<Cubic>(path_.packet_bytes));
  EXPECT_GE(ours, 0.25);
  EXPECT_GE(others, 0.24);
  EXPECT_GE(ours + others, 0.95);
}

// Not a quarter for us: that takes a loss of 6 %, which twenty of ours then have among themselves (ADR-0059, ADR-0062).
TEST_P(BbrNextTo, TheFirstBbrLeavesAnEighthAndGetsAQuarter) {
  const auto [ours, others] = run(make(CongestionKind::bbr, 11), std::make_unique<BbrV1>(path_.packet_bytes, 12));
  EXPECT_GE(ours, 1.0 / 8);
  EXPECT_GE(others, 0.25);
  EXPECT_GE(ours + others, 0.95);
}

TEST_P(BbrNextTo, AnotherOfItsKindSharesEvenly) {
  const auto [ours, others] = run(make(CongestionKind::bbr, 11), make(CongestionKind::bbr, 12));
  EXPECT_GE(jain(ours, others), 0.8) << "what an overflow takes by chance from one comes back slowly (ADR-0059)";
  EXPECT_GE(ours + others, 0.95);
}

INSTANTIATE_TEST_SUITE_P(Starts, BbrNextTo,
                         testing::Combine(testing::Values(Duration{0}, Duration{2s}, Duration{-2s}),
                                          testing::Values(1U, 2U)));

TEST(BbrAlone, TakesTheWholePathOnceARivalHasGone) {
  const Path path{.rate = mbit(1'000), .rtt = 20ms, .buffer_bytes = 2'500'000, .loss = 0.005, .packet_bytes = 2'912};
  Bottleneck bottleneck(path);
  const auto& flow = bottleneck.add(CongestionKind::bbr);
  bottleneck.add(std::make_unique<BbrV1>(path.packet_bytes, 5)).limit_to(1'000'000'000);
  bottleneck.run_until(30s);
  const auto before = flow.delivered_bytes();
  double queued = 0;
  for (int sample = 1; sample <= 1'000; ++sample) {
    bottleneck.run_until(30s + sample * 10ms);
    queued += static_cast<double>(bottleneck.queued_bytes());
  }
  EXPECT_GE(share(path, flow.delivered_bytes() - before, 10s), 0.95);
  EXPECT_LE(queued / 1'000, 0.5 * static_cast<double>(bottleneck.bdp_bytes()));
}

}  // namespace
}  // namespace udtcat::transport::native::test
