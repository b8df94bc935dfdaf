// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/measures.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

AckEvent ack(std::uint64_t prior_bytes, std::uint64_t total_bytes, Duration rtt) {
  AckEvent event{.now = at(1s)};
  event.newly_delivered_bytes = 1'000;
  event.delivered_total_bytes = total_bytes;
  event.rtt = rtt;
  event.rate = RateSample{.delivered_bytes = total_bytes - prior_bytes, .interval = rtt};
  event.rate->prior_delivered_bytes = prior_bytes;
  return event;
}

TEST(RoundTrips, EndWhenAPacketSentAfterTheirBeginningIsAcknowledged) {
  RoundTrips rounds;
  EXPECT_TRUE(rounds.on_ack(ack(0, 1'000, 10ms)));
  EXPECT_FALSE(rounds.on_ack(ack(0, 2'000, 10ms)));
  EXPECT_FALSE(rounds.on_ack(ack(999, 3'000, 10ms)));
  EXPECT_TRUE(rounds.on_ack(ack(1'000, 4'000, 10ms)));
  EXPECT_FALSE(rounds.on_ack(ack(3'999, 5'000, 10ms)));
}

TEST(RoundTrips, CanBeginAnew) {
  RoundTrips rounds;
  EXPECT_TRUE(rounds.on_ack(ack(0, 1'000, 10ms)));
  EXPECT_FALSE(rounds.on_ack(ack(0, 2'000, 10ms)));
  rounds.restart();
  EXPECT_FALSE(rounds.on_ack(ack(1'000, 3'000, 10ms))) << "was sent before";
  EXPECT_TRUE(rounds.on_ack(ack(2'000, 4'000, 10ms)));
}

TEST(RoundTrips, SumDeliveryAndLoss) {
  RoundTrips rounds;
  std::ignore = rounds.on_ack(ack(0, 1'000, 30ms));
  std::ignore = rounds.on_ack(ack(0, 2'000, 20ms));
  rounds.on_loss(LossEvent{.lost_bytes = 500});
  ASSERT_TRUE(rounds.on_ack(ack(1'000, 4'000, 40ms)));
  EXPECT_EQ(rounds.last().delivered_bytes, 2'000U);
  EXPECT_EQ(rounds.last().lost_bytes, 500U);
  EXPECT_DOUBLE_EQ(rounds.last().loss_rate(), 0.2);
  EXPECT_EQ(rounds.last().min_rtt, Duration{20ms});
  EXPECT_EQ(rounds.last().in_flight_bytes, 3'000U);
  EXPECT_EQ(rounds.last().bandwidth, BitRate::from_bytes_per(2'000, 20ms));
}

TEST(RoundTrips, KnowTheLeastRttOfTheLastTwo) {
  RoundTrips rounds;
  EXPECT_FALSE(rounds.recent_min_rtt());
  std::ignore = rounds.on_ack(ack(0, 1'000, 20ms));
  std::ignore = rounds.on_ack(ack(0, 2'000, 30ms));
  EXPECT_EQ(rounds.recent_min_rtt(), Duration{20ms});
  std::ignore = rounds.on_ack(ack(1'000, 3'000, 40ms));
  EXPECT_EQ(rounds.recent_min_rtt(), Duration{30ms});
}

TEST(RoundTrips, HaveNoLossRateWithoutPackets) { EXPECT_EQ(RoundTrip{}.loss_rate(), 0.0); }

}  // namespace
}  // namespace udtcat::transport::native::test
