// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/path_estimator.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr BitRate kUnknownRate{};
constexpr std::size_t kEstimatedPayload = 1000;

RateSample sample_of(std::uint64_t bytes, Duration interval, bool app_limited = false) {
  return {.delivered_bytes = bytes, .interval = interval, .app_limited = app_limited};
}

TEST(PathEstimator, TakesARoundTripOfSmallPacketsForTheFirstAlone) {
  PathEstimator path;
  EXPECT_TRUE(path.on_small_rtt(kStart, {20ms, 200}));
  EXPECT_FALSE(path.on_small_rtt(kStart, {1ms, 200}));
  EXPECT_EQ(path.rtt().latest(), 20ms);
}

TEST(PathEstimator, TakesTheAgeOfTheEchoedTimestampForARoundTrip) {
  PathEstimator path;
  path.on_report(kStart, 100'000, {.echo_us = 50'000, .delay_us = 5'000});
  EXPECT_EQ(path.rtt().latest(), 45ms);
  path.on_report(kStart, 0, {.echo_us = 61'000'000});
  EXPECT_EQ(path.rtt().samples(), 1U) << "an age of an hour and more";
}

TEST(PathEstimator, TakesNothingOfWhatLeftByThePathBefore) {
  PathEstimator path(kStart);
  EXPECT_FALSE(path.on_small_rtt(kStart + 10ms, {20ms, 200}));
  path.on_report(kStart + 10ms, 100'000, {.echo_us = 80'000});
  EXPECT_FALSE(path.rtt().measured());
  path.on_report(kStart + 20ms, 110'000, {.echo_us = 95'000});
  EXPECT_EQ(path.rtt().latest(), 15ms);
}

TEST(PathEstimator, LeavesTheQueueOfAcksOutOfTheForwardRoundTrip) {
  PathEstimator path;
  path.on_report(kStart, 100'000, {.echo_us = 80'000, .arrived_us = 10'000});
  path.on_report(kStart, 200'000, {.echo_us = 150'000, .arrived_us = 80'000});
  EXPECT_EQ(path.rtt().latest(), 50ms);
  EXPECT_EQ(path.forward_rtt(), 20ms);
  EXPECT_EQ(path.arrived_unheard_bytes(BitRate::from_bits_per_second(8'000'000)), 30'000U);
  EXPECT_EQ(path.arrived_unheard_bytes(kUnknownRate), 0U);
}

TEST(PathEstimator, SeesAQueueInASmoothedRoundTripThatIsAQuarterLonger) {
  PathEstimator path;
  path.on_rtt(100ms);
  EXPECT_FALSE(path.rtt_shows_queue());
  for (int i = 0; i < 100; ++i) path.on_rtt(120ms);
  EXPECT_FALSE(path.rtt_shows_queue());
  for (int i = 0; i < 100; ++i) path.on_rtt(130ms);
  EXPECT_TRUE(path.rtt_shows_queue());
}

TEST(PathEstimator, KnowsTheWireTimeByTheBestSampleUntilAPathRateIsFound) {
  PathEstimator path;
  EXPECT_EQ(path.wire_time(kUnknownRate, 1000), 0ms);
  EXPECT_EQ(path.most_wire_time(kUnknownRate, 1000), 2s) << "nothing is known";
  path.on_rate(sample_of(1'000'000, 1s, true));
  EXPECT_EQ(path.wire_time(kUnknownRate, 1000), 0ms) << "too little was sent";
  path.on_rate(sample_of(100'000, 1s));
  path.on_rate(sample_of(50'000, 1s));
  EXPECT_EQ(path.wire_time(kUnknownRate, 1000), 10ms);
  EXPECT_EQ(path.wire_time(BitRate::from_bits_per_second(8'000'000), 1000), 1ms);
}

TEST(PathEstimator, BoundsTheWireTimeByTheRoundTripThatAPacketHadAPartIn) {
  PathEstimator path;
  path.on_rtt(20ms);
  path.on_answered(952);
  EXPECT_EQ(path.most_wire_time(kUnknownRate, 1000), 10ms);
}

TEST(PathEstimator, WaitsLongerForTheAnswerToAPacketLargerThanAnyAnswered) {
  PathEstimator path;
  EXPECT_EQ(path.answer_time(kUnknownRate, kEstimatedPayload, 0), 1s);
  path.on_small_rtt(kStart, {20ms, 192});  // of two packets with 48 bytes of payload each
  EXPECT_EQ(path.answer_time(kUnknownRate, kEstimatedPayload, 48), path.rtt().timeout());
  EXPECT_EQ(path.answer_time(kUnknownRate, kEstimatedPayload, 48 + 96), path.rtt().timeout() + 10ms);
}

}  // namespace
}  // namespace udtcat::transport::native
