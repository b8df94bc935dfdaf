// SPDX-License-Identifier: Apache-2.0
#include "wan/link_settings.hpp"

#include <gtest/gtest.h>

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

TEST(Delay, IsANumberWithItsUnit) {
  EXPECT_EQ(parse_delay("75ms"), 75ms);
  EXPECT_EQ(parse_delay("200us"), 200us);
  EXPECT_EQ(parse_delay("1.5s"), 1500ms);
  EXPECT_EQ(parse_delay("0"), 0ms);
  for (const char* bad : {"", "75", "-1ms", "61s", "ms", "1h", "nanms", "infs"}) EXPECT_FALSE(parse_delay(bad)) << bad;
}

TEST(Share, IsAPercentage) {
  EXPECT_DOUBLE_EQ(*parse_share("0.1%"), 0.001);
  EXPECT_DOUBLE_EQ(*parse_share("100%"), 1);
  EXPECT_DOUBLE_EQ(*parse_share("0"), 0);
  for (const char* bad : {"", "0.1", "101%", "-1%", "%", "1%%"}) EXPECT_FALSE(parse_share(bad)) << bad;
}

TEST(PathSettings, TakeOneValueForBothWays) {
  PathSettings path;
  ASSERT_TRUE(set(path, "rate", "10G"));
  ASSERT_TRUE(set(path, "rtt", "75ms"));
  EXPECT_EQ(path.out.rate.bits_per_second(), 10'000'000'000U);
  EXPECT_EQ(path.back.rate, path.out.rate);
  EXPECT_EQ(path.out.delay + path.back.delay, 75ms);
}

TEST(PathSettings, TakeAValueForEachWay) {
  PathSettings path;
  ASSERT_TRUE(set(path, "loss", "1%/0"));
  EXPECT_DOUBLE_EQ(path.out.loss, 0.01);
  EXPECT_DOUBLE_EQ(path.back.loss, 0);
}

TEST(PathSettings, RefuseWhatTheyDoNotKnowAndSayWhatTheyDo) {
  PathSettings path;
  const Status unknown = set(path, "colour", "blue");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("reorder-delay"), std::string::npos);
  for (const auto& [name, value] : {std::pair{"rate", "10GB"},
                                    {"rate", "1001G"},
                                    {"rate", "1001G"},
                                    {"loss", "1"},
                                    {"burst", "0.5"},
                                    {"queue", "1M"},
                                    {"rtt", "1/"}})
    EXPECT_FALSE(set(path, name, value)) << name << " " << value;
}

TEST(PathSettings, RefuseBurstsWithNothingBetween) {
  PathSettings path;
  ASSERT_TRUE(set(path, "loss", "80%") && set(path, "burst", "4"));
  EXPECT_TRUE(check(path));
  ASSERT_TRUE(set(path, "loss", "0/81%"));
  EXPECT_FALSE(check(path));
}

TEST(Queue, IsABandwidthDelayProductUnlessItWouldBeTiny) {
  PathSettings path;
  ASSERT_TRUE(set(path, "rate", "1G"));
  ASSERT_TRUE(set(path, "rtt", "80ms"));
  EXPECT_EQ(path.out.effective_queue_bytes(), 10'000'000U);
  ASSERT_TRUE(set(path, "rtt", "0"));
  EXPECT_EQ(path.out.effective_queue_bytes(), kLeastQueueBytes);
  ASSERT_TRUE(set(path, "queue", "64KiB"));
  EXPECT_EQ(path.out.effective_queue_bytes(), 64 * kKiB);
}

}  // namespace
}  // namespace udtcat::wan
