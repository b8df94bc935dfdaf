// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/arrival_rate.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

TEST(ArrivalRate, IsUnknownAtFirst) {
  ArrivalRate rate;
  rate.on_packet();
  rate.close_interval(kStart);
  EXPECT_EQ(rate.rate_packets(), 0U);
  EXPECT_EQ(rate.capacity_packets(), 0U);
}

TEST(ArrivalRate, IsThatOfTheLastInterval) {
  ArrivalRate rate;
  rate.close_interval(kStart);
  for (int i = 0; i < 100; ++i) rate.on_packet();
  rate.close_interval(kStart + 5ms);
  EXPECT_EQ(rate.rate_packets(), 0U) << "too short";
  rate.close_interval(kStart + 10ms);
  EXPECT_NEAR(rate.rate_packets(), 10'000, 2);
  EXPECT_NEAR(rate.capacity_packets(), 20'000, 4);
}

TEST(ArrivalRate, DoesNotChangeInAPause) {
  ArrivalRate rate;
  rate.close_interval(kStart);
  for (int i = 0; i < 100; ++i) rate.on_packet();
  rate.close_interval(kStart + 10ms);
  rate.close_interval(kStart + 1h);
  EXPECT_NEAR(rate.rate_packets(), 10'000, 2);
}

/// Packets as libudt sends them: the second of a packet pair at once, all others at the pace.
class ArrivalTimesTest : public testing::Test {
 protected:
  void packets(int count, std::chrono::nanoseconds pace, std::chrono::nanoseconds in_pair) {
    for (int i = 0; i < count; ++i, ++sequence) {
      now += sequence % 16 == 1 ? in_pair : pace;
      times.on_packet(sequence, now);
    }
  }
  ArrivalTimes times;
  std::uint32_t sequence = 1000;
  std::chrono::nanoseconds now = 1h;
};

TEST_F(ArrivalTimesTest, IsUnknownAtFirst) {
  times.on_packet(16, 1s);
  EXPECT_EQ(times.rate_packets(), 0U);
  EXPECT_EQ(times.capacity_packets(), 0U);
}

TEST_F(ArrivalTimesTest, IgnoresAPacketPairWhoseFirstIsMissing) {
  times.on_packet(1, 1s);
  for (std::uint32_t pair = 1; pair < 8; ++pair) {
    times.on_packet(16 * pair, 1s + pair * 1ms);
    times.on_packet(16 * pair + 1, 1s + pair * 1ms + 10us);
  }
  EXPECT_EQ(times.capacity_packets(), 0U) << "seven pairs are too few";
}

TEST_F(ArrivalTimesTest, GiveThePaceAndTheCapacityByPacketPairs) {
  packets(500, 1ms, 10us);
  EXPECT_NEAR(times.rate_packets(), 1000, 1);
  EXPECT_NEAR(times.capacity_packets(), 100'000, 1);
}

TEST_F(ArrivalTimesTest, AreNotChangedByAPauseOrADuplicate) {
  packets(500, 1ms, 10us);
  now += 1h;
  times.on_packet(sequence - 100, now);
  packets(3, 1ms, 10us);
  EXPECT_NEAR(times.rate_packets(), 1000, 1);
  EXPECT_NEAR(times.capacity_packets(), 100'000, 1);
}

TEST_F(ArrivalTimesTest, IgnoreAnImpossibleTime) {
  packets(500, 0ns, 0ns);
  EXPECT_LE(times.rate_packets(), 1'000'000U);
  EXPECT_LE(times.capacity_packets(), 1'000'000U);
}

TEST_F(ArrivalTimesTest, IgnoreAPacketPairWhoseSecondIsMissing) {
  for (int i = 0; i < 500; ++i, ++sequence) {
    now += 1ms;
    if (sequence % 16 != 0) times.on_packet(sequence, now);
  }
  EXPECT_EQ(times.capacity_packets(), 0U);
}

}  // namespace
}  // namespace udtcat::transport::native
