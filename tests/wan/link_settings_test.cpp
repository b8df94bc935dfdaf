// SPDX-License-Identifier: Apache-2.0
#include "wan/link_settings.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_dir.hpp"

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

TEST(Release, IsATimeOrARange) {
  EXPECT_EQ(parse_release("8ms"), (ReleaseInterval{8ms, 8ms}));
  EXPECT_EQ(parse_release("4-20"), (ReleaseInterval{4ms, 20ms}));
  EXPECT_EQ(parse_release("4-20ms"), (ReleaseInterval{4ms, 20ms}));
  EXPECT_EQ(parse_release("0.5ms-2ms"), (ReleaseInterval{500us, 2ms}));
  EXPECT_FALSE(parse_release("0")->is_set());
  for (const char* bad : {"", "-", "4-", "-4", "20-4", "0-4", "99us", "4-20-30", "61s", "4h"})
    EXPECT_FALSE(parse_release(bad)) << bad;
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
                                    {"loss", "1"},
                                    {"burst", "0.5"},
                                    {"queue", "1M"},
                                    {"queue", "2GiB"},
                                    {"queue", "61s"},
                                    {"queue", ""},
                                    {"qdisc", "fq_codel"},
                                    {"codel-target", "0"},
                                    {"codel-interval", "0ms"},
                                    {"police", "20MB"},
                                    {"police-burst", "1M"},
                                    {"per-flow-rate", "1GB"},
                                    {"per-flow-rate", "1001G"},
                                    {"per-flow-burst", "1M"},
                                    {"release", "20-4"},
                                    {"trace", ""},
                                    {"trace", "/no/such/trace"},
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

TEST(PathSettings, AreAsTheyWereAfterABadHalf) {
  PathSettings path;
  ASSERT_TRUE(set(path, "rate", "10M"));
  EXPECT_FALSE(set(path, "rate", "20M/x"));
  EXPECT_EQ(path.out.rate.bits_per_second(), 10'000'000U);
}

TEST(PathSettings, TakeATraceForOneWayOrBothInPlaceOfARate) {
  const test::TempDir directory;
  const std::string file = (directory.path() / "trace").string();
  std::ofstream(file) << "1\n";
  PathSettings path;
  ASSERT_TRUE(set(path, "rate", "1G"));
  ASSERT_TRUE(set(path, "trace", file + ","));
  EXPECT_EQ(path.out.rate.bits_per_second(), 12'000'000U);
  EXPECT_TRUE(path.out.trace);
  EXPECT_FALSE(path.back.trace);
  ASSERT_TRUE(set(path, "trace", file));
  EXPECT_TRUE(path.back.trace);
  ASSERT_TRUE(set(path, "rate", "1G"));
  EXPECT_FALSE(path.out.trace || path.back.trace) << "the last word counts";
}

TEST(PathSettings, TakeAQueueInBytesOrInTime) {
  PathSettings path;
  ASSERT_TRUE(set(path, "queue", "5ms/64KiB"));
  EXPECT_EQ(path.out.queue_time, 5ms);
  EXPECT_EQ(path.out.queue_bytes, std::nullopt);
  EXPECT_EQ(path.back.queue_bytes, 64 * kKiB);
  ASSERT_TRUE(set(path, "queue", "0"));
  EXPECT_EQ(path.out.queue_bytes, 0U);
  EXPECT_EQ(path.out.queue_time, std::nullopt);
}

TEST(PathSettings, TakeAPolicerAndADisciplineForEachWay) {
  PathSettings path;
  ASSERT_TRUE(set(path, "police", "20M/0") && set(path, "police-burst", "1MB") && set(path, "qdisc", "codel/droptail"));
  ASSERT_TRUE(set(path, "codel-target", "10ms") && set(path, "codel-interval", "200ms"));
  EXPECT_EQ(path.out.effective_police_burst_bytes(), 1'000'000U);
  EXPECT_TRUE(path.back.police_rate.unlimited());
  EXPECT_TRUE(path.out.codel && !path.back.codel);
  EXPECT_EQ(path.out.codel_settings.target, 10ms);
  EXPECT_EQ(path.out.codel_settings.interval, 200ms);
}

TEST(PathSettings, TakeAPolicerForEachFlowWithABucketAsAPolicersIs) {
  PathSettings path;
  EXPECT_TRUE(path.out.flow_rate.unlimited());
  ASSERT_TRUE(set(path, "per-flow-rate", "1G/8k"));
  EXPECT_EQ(path.out.flow_rate.bits_per_second(), 1'000'000'000U);
  EXPECT_EQ(path.out.effective_flow_burst_bytes(), 12'500'000U);
  EXPECT_EQ(path.back.effective_flow_burst_bytes(), 64 * kKiB);
  EXPECT_TRUE(path.out.police_rate.unlimited());
  ASSERT_TRUE(set(path, "per-flow-burst", "1MB"));
  EXPECT_EQ(path.out.effective_flow_burst_bytes(), 1'000'000U);
}

TEST(Paths, AreSetTogetherOrOneByOne) {
  std::vector<PathSettings> paths(3);
  ASSERT_TRUE(set(paths, "loss", "1%"));
  ASSERT_TRUE(set(paths, "2:loss", "5%/0"));
  ASSERT_TRUE(set_of_one_path(paths, "3:rtt=40ms"));
  EXPECT_DOUBLE_EQ(paths[0].out.loss, 0.01);
  EXPECT_DOUBLE_EQ(paths[1].out.loss, 0.05);
  EXPECT_DOUBLE_EQ(paths[1].back.loss, 0);
  EXPECT_DOUBLE_EQ(paths[2].out.loss, 0.01);
  EXPECT_EQ(paths[2].out.delay, 20ms);
  EXPECT_EQ(paths[0].out.delay, 0ms);
}

TEST(Paths, AreCountedFromOne) {
  EXPECT_EQ(parse_path("1", 2), 0U);
  EXPECT_EQ(parse_path("2", 2), 1U);
  for (const char* bad : {"", "0", "3", "-1", "1x", "x", " 1", "+1", "99999999999999999999"})
    EXPECT_FALSE(parse_path(bad, 2)) << bad;
  EXPECT_NE(parse_path("3", 2).error().message().find("from 1 to 2"), std::string::npos);
}

TEST(Paths, AreAsTheyWereAfterABadWord) {
  std::vector<PathSettings> paths(2);
  for (const char* bad : {"", "2", "2:", "2:loss", "loss=5%", "loss=2:5%", "3:loss=5%", "0:loss=5%", ":loss=5%",
                          "2:=5%", "2:loss=", "2:loss=5", "2:colour=blue", "1:2:loss=5%"})
    EXPECT_FALSE(set_of_one_path(paths, bad)) << bad;
  EXPECT_FALSE(set(paths, "loss", "101%"));
  for (const PathSettings& path : paths) EXPECT_DOUBLE_EQ(path.out.loss, 0);
}

TEST(PathSettings, HaveHelp) {
  PathSettings path;
  for (const auto& [name, text] : settings()) {
    EXPECT_FALSE(text.empty());
    EXPECT_NE(set(path, "colour", "blue").error().message().find(name), std::string::npos) << name;
  }
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
