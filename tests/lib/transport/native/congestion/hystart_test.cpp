#include "lib/transport/native/congestion/hystart.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

TEST(HyStart, DoublesWhileRoundTripsStayTheSame) {
  HyStart start;
  for (int round = 0; round < 20; ++round) start.on_round_trip(40ms + 1ms * (round % 3));
  EXPECT_EQ(start.growth(), 1.0);
}

TEST(HyStart, GrowsCarefullyOnceTheyGrowAndEndsAfterFive) {
  HyStart start;
  start.on_round_trip(40ms);
  start.on_round_trip(45ms);
  EXPECT_EQ(start.growth(), 0.25);
  for (int round = 0; round < 4; ++round) start.on_round_trip(46ms);
  EXPECT_FALSE(start.done());
  start.on_round_trip(46ms);
  EXPECT_TRUE(start.done());
  EXPECT_EQ(start.growth(), 0.0);
}

TEST(HyStart, DoublesAgainIfItWasNoQueue) {
  HyStart start;
  start.on_round_trip(40ms);
  start.on_round_trip(45ms);
  start.on_round_trip(40ms);
  EXPECT_EQ(start.growth(), 1.0);
}

TEST(HyStart, TakesFourToSixteenMillisecondsForGrowth) {
  HyStart near;
  near.on_round_trip(1ms);
  near.on_round_trip(4ms);
  EXPECT_EQ(near.growth(), 1.0);
  near.on_round_trip(8ms);
  EXPECT_EQ(near.growth(), 0.25);
  HyStart far;
  far.on_round_trip(400ms);
  far.on_round_trip(416ms);
  EXPECT_EQ(far.growth(), 0.25);
}

TEST(HyStart, EndsWithALossAndBeginsAnew) {
  HyStart start;
  start.on_loss();
  EXPECT_TRUE(start.done());
  start.restart();
  EXPECT_EQ(start.growth(), 1.0);
}

TEST(HyStart, LearnsNothingFromARoundTripWithoutASample) {
  HyStart start;
  start.on_round_trip(40ms);
  start.on_round_trip({});
  start.on_round_trip(45ms);
  EXPECT_EQ(start.growth(), 0.25);
}

}  // namespace
}  // namespace udtcat::transport::native::test
