// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/delivery_rate.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

SentPacket sent(DeliveryRate& rate, TimePoint now, std::uint64_t in_flight, std::uint64_t lost = 0) {
  return {.bytes = 1000, .sends = 1, .sent_at = now, .snapshot = rate.on_sent(now, in_flight, 1000, lost)};
}

TEST(DeliveryRate, IsWhatWasDeliveredOverTheTimeItTook) {
  DeliveryRate rate;
  SentPacket last;
  for (unsigned i = 0; i < 10; ++i) last = sent(rate, kStart + i * 1ms, i * 1000);
  rate.on_delivered(kStart + 60ms, 10'000);
  const auto sample = rate.sample(kStart + 60ms, last, 0);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->delivered_bytes, 10'000U);
  EXPECT_EQ(sample->interval, 60ms);
  EXPECT_EQ(sample->in_flight_at_send_bytes, 10'000U);
  EXPECT_FALSE(sample->app_limited);
}

TEST(DeliveryRate, IsNotFasterThanThePacketsLeft) {
  DeliveryRate rate;
  const auto first = sent(rate, kStart, 0);
  rate.on_delivered(kStart + 50ms, 1000);
  ASSERT_TRUE(rate.sample(kStart + 50ms, first, 0));
  const auto second = sent(rate, kStart + 100ms, 1000);
  rate.on_delivered(kStart + 101ms, 2000);
  EXPECT_GE(rate.sample(kStart + 101ms, second, 0)->interval, 51ms);
}

TEST(DeliveryRate, HasNoSampleWhereNothingCame) {
  DeliveryRate rate;
  const auto packet = sent(rate, kStart, 0);
  EXPECT_FALSE(rate.sample(kStart + 50ms, packet, 0));
  rate.on_delivered(kStart, 1000);
  EXPECT_FALSE(rate.sample(kStart, packet, 0)) << "in no time";
}

TEST(DeliveryRate, NeverGoesBack) {
  DeliveryRate rate;
  rate.on_delivered(kStart, 5000);
  rate.on_delivered(kStart + 1s, 3000);
  EXPECT_EQ(rate.delivered_bytes(), 5000U);
}

TEST(DeliveryRate, SaysWhenTheWriterHadNothingMore) {
  DeliveryRate rate;
  rate.on_app_limited(3000);
  const auto packet = sent(rate, kStart, 0);
  rate.on_delivered(kStart + 10ms, 3000);
  EXPECT_TRUE(rate.sample(kStart + 10ms, packet, 0)->app_limited);
  EXPECT_TRUE(rate.app_limited());
  rate.on_delivered(kStart + 20ms, 3001);
  EXPECT_FALSE(rate.app_limited());
}

TEST(DeliveryRate, CountsWhatWasLostSince) {
  DeliveryRate rate;
  const auto packet = sent(rate, kStart, 0, 700);
  rate.on_delivered(kStart + 10ms, 1000);
  EXPECT_EQ(rate.sample(kStart + 10ms, packet, 1700)->lost_bytes, 1000U);
}

}  // namespace
}  // namespace udtcat::transport::native
