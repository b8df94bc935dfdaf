// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/sent_packets.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

/// Ten packets of 1000 bytes that have left.
class SentPacketsTest : public testing::Test {
 protected:
  SentPacketsTest() {
    for (int i = 0; i < 10; ++i) packets.on_sent(kStart, packets.add(1000), {});
  }
  SentPackets packets;
};

TEST_F(SentPacketsTest, AreInFlightUntilTheyAreAcknowledged) {
  EXPECT_EQ(packets.sent_offset(), 10'000U);
  EXPECT_EQ(packets.in_flight_bytes(), 10'000U);
  EXPECT_FALSE(packets.acknowledge_before(4));
  EXPECT_EQ(packets.acknowledged_offset(), 4000U);
  EXPECT_EQ(packets.delivered_bytes(), 4000U);
  EXPECT_EQ(packets.in_flight_bytes(), 6000U);
  EXPECT_FALSE(packets.acknowledge_before(10));
  EXPECT_TRUE(packets.empty());
  EXPECT_EQ(packets.acknowledged_offset(), 10'000U);
}

TEST_F(SentPacketsTest, AreNotInFlightWhileTheyAreLost) {
  packets.mark_lost(5);
  packets.mark_lost(2);
  EXPECT_EQ(packets.first_lost(), 2U);
  EXPECT_EQ(packets.in_flight_bytes(), 8000U);
  EXPECT_EQ(packets.in_flight_bytes_without(2), 8000U);
  packets.on_sent(kStart, 2, {});
  EXPECT_EQ(packets.in_flight_bytes(), 9000U);
  EXPECT_EQ(packets.in_flight_bytes_without(2), 8000U);
  EXPECT_EQ(packets.sent_offset(), 10'000U) << "nothing new";
  EXPECT_EQ(packets.first_lost(), 5U);
}

TEST_F(SentPacketsTest, TellWhetherAnAckCoversOneThatWasSentAgain) {
  packets.mark_lost(2);
  packets.mark_lost(5);
  packets.on_sent(kStart, 2, {});
  EXPECT_TRUE(packets.acknowledge_before(3));
  EXPECT_FALSE(packets.acknowledge_before(7)) << "lost, and not sent again";
  EXPECT_FALSE(packets.has_lost());
  EXPECT_EQ(packets.in_flight_bytes(), 3000U);
}

TEST_F(SentPacketsTest, CountTheReportedBytesWhereTheyAreMore) {
  packets.on_reported(7000);
  packets.on_reported(6000);
  EXPECT_EQ(packets.delivered_bytes(), 7000U);
  EXPECT_EQ(packets.in_flight_bytes(), 3000U);
  packets.acknowledge_before(9);
  EXPECT_EQ(packets.delivered_bytes(), 9000U);
}

TEST_F(SentPacketsTest, CountAPresumptionUntilThePacketIsAcknowledgedOrLost) {
  for (const PacketIndex index : {0U, 1U, 2U}) packets.presume_delivered(index);
  EXPECT_EQ(packets.delivered_bytes(), 3000U);
  packets.acknowledge_before(1);
  EXPECT_EQ(packets.delivered_bytes(), 3000U);
  packets.mark_lost(1);
  EXPECT_EQ(packets.delivered_bytes(), 2000U);
  EXPECT_EQ(packets.in_flight_bytes(), 7000U);
}

TEST_F(SentPacketsTest, LeaveTheFlightWhenTheyExpire) {
  packets.expire(3);
  EXPECT_EQ(packets.in_flight_bytes(), 9000U);
  EXPECT_EQ(packets.delivered_bytes(), 0U);
  packets.mark_lost(3);
  EXPECT_EQ(packets.in_flight_bytes(), 9000U) << "counted once";
}

}  // namespace
}  // namespace udtcat::transport::native
