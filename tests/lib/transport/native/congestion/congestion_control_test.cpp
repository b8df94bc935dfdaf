// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/congestion_control.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "lib/transport/native/congestion/bottleneck.hpp"
#include "lib/transport/native/congestion/events.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native::test {
namespace {

class EachCongestionControl : public testing::TestWithParam<CongestionKind> {
 protected:
  std::unique_ptr<CongestionControl> control_ =
      make_congestion_control({.kind = GetParam(), .cap = mbit(10), .random_seed = 1}, kPayload, at(0s));
};

TEST_P(EachCongestionControl, BeginsWithAFlightOfPackets) { EXPECT_GE(control_->window_bytes(), 10 * kPayload); }

TEST_P(EachCongestionControl, AlwaysLeavesAWindowToSendIn) {
  Rounds rounds(*control_);
  for (int round = 0; round < 100; ++round) {
    rounds.deliver(mbit(1), 900'000);
    control_->on_timeout(rounds.now());
    EXPECT_GE(control_->window_bytes(), kPayload);
  }
}

TEST_P(EachCongestionControl, TakesAnAckWithoutAnyMeasurement) {
  control_->on_ack({.now = at(1s), .newly_delivered_bytes = kPayload, .delivered_total_bytes = kPayload});
  EXPECT_GE(control_->window_bytes(), 10 * kPayload);
}

TEST_P(EachCongestionControl, TakesAnAckInNoTime) {
  Rounds rounds(*control_, Duration{0});
  for (int round = 0; round < 10; ++round) rounds.deliver(mbit(10));
  EXPECT_GE(control_->window_bytes(), kPayload);
}

TEST_P(EachCongestionControl, TakesAnotherPacketSize) {
  control_->on_packet_size(8'956);
  EXPECT_GE(control_->window_bytes(), 2 * 8'956U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachCongestionControl,
                         testing::Values(CongestionKind::bbr, CongestionKind::udt, CongestionKind::fixed),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST(CongestionControl, FixedPacesAtTheGivenRate) {
  EXPECT_EQ(make_congestion_control({.kind = CongestionKind::fixed, .cap = mbit(10)}, kPayload, at(0s))->pacing_rate(),
            mbit(10));
}

std::unique_ptr<CongestionControl> fixed(BitRate rate) {
  return make_congestion_control({.kind = CongestionKind::fixed, .cap = rate}, kPayload, at(0s));
}

TEST(FixedRate, PacesAtItsRateWhateverIsLost) {
  const auto control = fixed(mbit(80));
  Rounds rounds(*control);
  for (int round = 0; round < 10; ++round) rounds.deliver(mbit(10), 500'000);
  control->on_timeout(rounds.now());
  EXPECT_EQ(control->pacing_rate(), mbit(80));
}

TEST(FixedRate, KeepsAWindowOfTwoRoundTrips) {
  const auto control = fixed(mbit(80));
  EXPECT_EQ(control->window_bytes(), 1'000'000U) << "a tenth of a second, before the path is known";
  Rounds rounds(*control, 200ms);
  rounds.deliver(mbit(80));
  EXPECT_EQ(control->window_bytes(), 4'000'000U);
}

TEST(FixedRate, KeepsAWindowWorthSendingAtTheLowestRate) {
  EXPECT_EQ(fixed(mbit(0))->window_bytes(), kUnbounded) << "unlimited";
  EXPECT_EQ(fixed(BitRate::from_bits_per_second(1))->window_bytes(), 10 * kPayload);
}

TEST(FixedRate, DeliversItsRateOverALossyPath) {
  const Path path{.rate = mbit(100), .rtt = 50ms, .buffer_bytes = 1'000'000, .loss = 0.02};
  Bottleneck bottleneck(path);
  const auto& flow = bottleneck.add(CongestionKind::fixed, {}, mbit(50));
  bottleneck.run_until(10s);
  EXPECT_NEAR(share(path, flow.delivered_bytes(), 10s), 0.5 * 0.98, 0.01);
}

}  // namespace
}  // namespace udtcat::transport::native::test
