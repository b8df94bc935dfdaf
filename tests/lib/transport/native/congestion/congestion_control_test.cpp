#include "lib/transport/native/congestion/congestion_control.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

class EachCongestionControl : public testing::TestWithParam<CongestionKind> {
 protected:
  std::unique_ptr<CongestionControl> control_ = make_congestion_control(GetParam(), kPayload, mbit(10), at(0s), 1);
};

TEST_P(EachCongestionControl, BeginsWithAFlightOfPackets) { EXPECT_GE(control_->window_bytes(), 32 * kPayload); }

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
  EXPECT_GE(control_->window_bytes(), 32 * kPayload);
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
                         testing::Values(CongestionKind::bbr, CongestionKind::udt, CongestionKind::cubic,
                                         CongestionKind::fixed),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST(CongestionControl, FixedPacesAtTheGivenRate) {
  EXPECT_EQ(make_congestion_control(CongestionKind::fixed, kPayload, mbit(10), at(0s), 1)->pacing_rate(), mbit(10));
}

}  // namespace
}  // namespace udtcat::transport::native::test
