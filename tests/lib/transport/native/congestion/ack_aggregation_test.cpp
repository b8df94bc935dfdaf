#include "lib/transport/native/congestion/ack_aggregation.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

constexpr std::uint64_t kWindow = 1'000'000;

TEST(AckAggregation, IsWhatOneBatchBringsBeyondTheRate) {
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

}  // namespace
}  // namespace udtcat::transport::native::test
