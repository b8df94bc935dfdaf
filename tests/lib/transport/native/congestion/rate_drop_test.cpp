// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/rate_drop.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

/// ACKs each 10 ms of a path of 40 ms that was thought to carry 100 Mbit/s.
class RateDropTest : public testing::Test {
 protected:
  /// rtt_growth   from ACK to ACK
  /// returns      the fall, once one was told
  std::optional<BitRate> acks(int count, BitRate rate, Duration rtt_growth, bool app_limited = false) {
    for (int i = 0; i < count; ++i)
      if (const auto fall = ack(10ms, rate, rtt_growth, app_limited)) return fall;
    return std::nullopt;
  }
  std::optional<BitRate> ack(Duration gap, BitRate rate, Duration rtt_growth, bool app_limited = false) {
    now_ += gap;
    rtt_ += rtt_growth;
    delivered_ += bytes_during(rate, gap);
    AckEvent event{.now = now_, .delivered_total_bytes = delivered_};
    event.rtt = rtt_;
    event.app_limited = app_limited;
    return drop_.on_ack(event, mbit(100), 40ms, true);
  }

  RateDrop drop_;
  TimePoint now_ = at(1s);
  Duration rtt_ = 100ms;
  std::uint64_t delivered_ = 0;
};

TEST_F(RateDropTest, IsTheRateThatComesOutOfAGrowingQueue) {
  const auto fall = acks(10, mbit(10), 9ms);
  ASSERT_TRUE(fall);
  EXPECT_NEAR(static_cast<double>(fall->bits_per_second()), 10e6, 1e5);
}

TEST_F(RateDropTest, IsNoneWhereHalfOfTheRateComes) { EXPECT_FALSE(acks(50, mbit(51), 5ms)); }

TEST_F(RateDropTest, IsNoneWhereTheQueueDoesNotGrow) { EXPECT_FALSE(acks(50, mbit(10), 0ms)); }

TEST_F(RateDropTest, IsNoneWhereThereWasTooLittleToSend) { EXPECT_FALSE(acks(50, mbit(10), 9ms, true)); }

TEST_F(RateDropTest, IsNoneWhereNothingWasDeliveredForAWhile) {
  EXPECT_FALSE(acks(5, mbit(10), 9ms));
  EXPECT_FALSE(ack(60ms, mbit(10), 50ms));
  EXPECT_FALSE(acks(3, mbit(10), 9ms));
}

}  // namespace
}  // namespace udtcat::transport::native::test
