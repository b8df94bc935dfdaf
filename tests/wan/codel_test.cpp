// SPDX-License-Identifier: Apache-2.0
#include "wan/codel.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

class CodelTest : public testing::Test {
 protected:
  /// The times of drops, in ms, of a packet each ms that has waited that long.
  std::vector<long> drops(std::chrono::milliseconds time, std::chrono::milliseconds sojourn,
                          std::size_t bytes_behind = 9000) {
    std::vector<long> dropped;
    for (const TimePoint end = now_ + time; now_ < end; now_ += 1ms)
      if (codel_.drops(now_, sojourn, bytes_behind)) dropped.push_back((now_ - begin_) / 1ms);
    return dropped;
  }

  Codel codel_;
  TimePoint begin_{1h};
  TimePoint now_ = begin_;
};

TEST_F(CodelTest, DropsNothingFromAShortQueue) {
  EXPECT_TRUE(drops(10s, 4ms).empty());
  EXPECT_TRUE(drops(10s, 50ms, 1500).empty()) << "a packet behind this one is no queue";
}

TEST_F(CodelTest, LetsABurstPassOfLessThanAnInterval) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(drops(99ms, 50ms).empty());
    EXPECT_TRUE(drops(1ms, 1ms).empty());
  }
}

TEST_F(CodelTest, DropsFasterTheLongerAQueueStands) {
  // spec: RFC 8289 §5.5, §5.6: after an interval, then by an interval over the root of the drops so far
  EXPECT_EQ(drops(500ms, 50ms), (std::vector<long>{100, 200, 271, 329, 379, 424, 464}));
}

TEST_F(CodelTest, StopsWhenTheQueueIsShort) {
  drops(450ms, 50ms);
  EXPECT_TRUE(drops(1ms, 4ms).empty());
  EXPECT_EQ(drops(200ms, 50ms).size(), 3U) << "it begins near the rate that was enough: after an interval, by 45 ms";
}

TEST_F(CodelTest, ForgetsItsRateAfterALongTime) {
  drops(450ms, 50ms);
  drops(2s, 4ms);
  EXPECT_EQ(drops(201ms, 50ms).size(), 2U);
}

TEST_F(CodelTest, HasATargetAndAnInterval) {
  codel_.set({.target = 60ms, .interval = 20ms});
  EXPECT_TRUE(drops(1s, 59ms).empty());
  EXPECT_EQ(drops(21ms, 60ms).size(), 1U);
}

}  // namespace
}  // namespace udtcat::wan
