// SPDX-License-Identifier: Apache-2.0
#include "wan/policer.hpp"

#include <gtest/gtest.h>

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

class PolicerTest : public testing::Test {
 protected:
  void set(std::uint64_t rate, std::size_t bucket_bytes) {
    policer_.set(BitRate::from_bits_per_second(rate), bucket_bytes, now_);
  }
  int conforming() {
    int count = 0;
    while (count < 1000 && policer_.conforms(1000, now_)) ++count;
    return count;
  }

  Policer policer_;
  TimePoint now_{1h};
};

TEST_F(PolicerTest, LetsEverythingPassUnlessItHasARate) { EXPECT_EQ(conforming(), 1000); }

TEST_F(PolicerTest, LetsItsBucketPassAndThenItsRate) {
  set(8'000'000, 10'000);
  EXPECT_EQ(conforming(), 10);
  now_ += 2500us;
  EXPECT_EQ(conforming(), 2);
  now_ += 500us;
  EXPECT_EQ(conforming(), 1) << "the half that was left counts";
  now_ += 1min;
  EXPECT_EQ(conforming(), 10) << "no more than the bucket";
}

TEST_F(PolicerTest, DropsWhatIsLargerThanItsBucket) {
  set(8'000'000, 999);
  now_ += 1min;
  EXPECT_EQ(conforming(), 0);
}

TEST_F(PolicerTest, KeepsItsBucketsContentWhenTheRateChanges) {
  set(8'000'000, 10'000);
  EXPECT_EQ(conforming(), 10);
  set(80'000'000, 20'000);
  EXPECT_EQ(conforming(), 0);
  now_ += 1ms;
  EXPECT_EQ(conforming(), 10);
  now_ += 1s;
  set(80'000'000, 5'000);
  EXPECT_EQ(conforming(), 5);
}

TEST_F(PolicerTest, IsFullWhenItIsTurnedOnAgain) {
  set(8'000'000, 10'000);
  conforming();
  set(0, 10'000);
  EXPECT_EQ(conforming(), 1000);
  set(8'000'000, 10'000);
  EXPECT_EQ(conforming(), 10);
}

}  // namespace
}  // namespace udtcat::wan
