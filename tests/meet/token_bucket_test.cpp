// SPDX-License-Identifier: Apache-2.0
#include "meet/token_bucket.hpp"

#include <gtest/gtest.h>

namespace udtcat::meet {
namespace {

using namespace std::chrono_literals;

constexpr BitRate kMegabytePerSecond = BitRate::from_bits_per_second(8'000'000);

TEST(TokenBucket, LetsItsRatePassAndABurst) {
  TokenBucket::TimePoint now{1s};
  TokenBucket bucket(kMegabytePerSecond, 100ms, now);
  std::size_t passed = 0;
  for (int i = 0; i < 10'000; ++i, now += 1ms) {
    bucket.fill(now);
    for (; bucket.has(1000) && passed < 1'000'000'000; passed += 1000) bucket.take(1000);
  }
  EXPECT_NEAR(static_cast<double>(passed), 10.1e6, 0.1e6);
}

TEST(TokenBucket, SavesNoMoreThanABurst) {
  TokenBucket::TimePoint now{1s};
  TokenBucket bucket(kMegabytePerSecond, 100ms, now);
  bucket.fill(now + 24h);
  EXPECT_TRUE(bucket.has(100'000));
  EXPECT_FALSE(bucket.has(100'001));
}

TEST(TokenBucket, HasRoomForATrainWhateverItsRate) {
  TokenBucket::TimePoint now{1s};
  const TokenBucket bucket(BitRate::from_bits_per_second(8), 100ms, now);
  EXPECT_TRUE(bucket.has(65'536));
}

TEST(TokenBucket, LetsEverythingPassWithoutALimit) {
  TokenBucket bucket(BitRate(), 100ms, TokenBucket::TimePoint{1s});
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(bucket.has(1U << 30U));
    bucket.take(1U << 30U);
  }
}

}  // namespace
}  // namespace udtcat::meet
