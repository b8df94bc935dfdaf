// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/delivery_rate.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

struct SampledPacket {
  TimePoint at;
  DeliverySnapshot snapshot;
};

SampledPacket send_packet(DeliveryRate& rate, TimePoint now, std::uint64_t in_flight) {
  return {now, rate.on_sent(now, in_flight, 1000)};
}

std::optional<RateSample> sample_of(DeliveryRate& rate, TimePoint now, const SampledPacket& newest) {
  return rate.sample(now, newest.at, newest.snapshot);
}

TEST(DeliveryRate, IsWhatWasDeliveredOverTheTimeItTook) {
  DeliveryRate rate;
  SampledPacket last{};
  for (unsigned i = 0; i < 10; ++i) last = send_packet(rate, kStart + i * 1ms, i * 1000);
  rate.on_delivered(kStart + 60ms, 10'000);
  const auto sample = sample_of(rate, kStart + 60ms, last);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->delivered_bytes, 10'000U);
  EXPECT_EQ(sample->interval, 60ms);
  EXPECT_EQ(sample->in_flight_at_send_bytes, 10'000U);
  EXPECT_FALSE(sample->app_limited);
}

TEST(DeliveryRate, IsNotFasterThanThePacketsLeft) {
  DeliveryRate rate;
  const auto first = send_packet(rate, kStart, 0);
  rate.on_delivered(kStart + 50ms, 1000);
  ASSERT_TRUE(sample_of(rate, kStart + 50ms, first));
  const auto second = send_packet(rate, kStart + 100ms, 1000);
  rate.on_delivered(kStart + 101ms, 2000);
  EXPECT_GE(sample_of(rate, kStart + 101ms, second)->interval, 51ms);
}

TEST(DeliveryRate, HasNoSampleWhereNothingWasDelivered) {
  DeliveryRate rate;
  const auto packet = send_packet(rate, kStart, 0);
  EXPECT_FALSE(sample_of(rate, kStart + 50ms, packet));
  rate.on_delivered(kStart, 1000);
  EXPECT_FALSE(sample_of(rate, kStart, packet)) << "in no time";
}

TEST(DeliveryRate, NeverDecreases) {
  DeliveryRate rate;
  rate.on_delivered(kStart, 5000);
  rate.on_delivered(kStart + 1s, 3000);
  EXPECT_EQ(rate.delivered_bytes(), 5000U);
}

TEST(DeliveryRate, IsAppLimitedUntilThoseBytesAreDelivered) {
  DeliveryRate rate;
  rate.on_app_limited(3000);
  const auto packet = send_packet(rate, kStart, 0);
  rate.on_delivered(kStart + 10ms, 3000);
  EXPECT_TRUE(sample_of(rate, kStart + 10ms, packet)->app_limited);
  EXPECT_TRUE(rate.app_limited());
  rate.on_delivered(kStart + 20ms, 3001);
  EXPECT_FALSE(rate.app_limited());
}

TEST(DeliveryRate, CountsLossSinceThePacketLeft) {
  DeliveryRate rate;
  rate.on_lost(700);
  const auto packet = send_packet(rate, kStart, 0);
  rate.on_lost(1000);
  rate.on_delivered(kStart + 10ms, 1000);
  EXPECT_EQ(sample_of(rate, kStart + 10ms, packet)->lost_bytes, 1000U);
}

}  // namespace
}  // namespace udtcat::transport::native
