#include "tool/progress.hpp"

#include <gtest/gtest.h>

#include "tool/stats_sum.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;

Sample sample(std::uint64_t sent, std::uint64_t received, std::chrono::nanoseconds elapsed) {
  Sample made{.elapsed = elapsed};
  made.stats.bytes_sent = sent;
  made.stats.bytes_received = received;
  made.stats.packets_sent = 1000;
  made.stats.packets_lost = 5;
  made.stats.rtt = 75'120us;
  return made;
}

TEST(Progress, ShowsTheRateSinceTheLastLine) {
  const Sample before = sample(1'000'000, 0, 10s);
  const Sample now = sample(101'000'000, 25'000'000, 12s);
  EXPECT_EQ(progress_line(before, now),
            "96.32 MiB sent, 23.84 MiB received, 500.00 Mbit/s, 0:12, RTT 75.1 ms, 0.50 % lost");
}

TEST(Progress, ShowsNoRoundTripBeforeOneWasMeasured) {
  Sample now = sample(1'000'000, 0, 1s);
  now.stats.rtt.reset();
  EXPECT_EQ(progress_line({}, now), "976.56 KiB sent, 0 B received, 8.00 Mbit/s, 0:01, 0.50 % lost");
}

TEST(Progress, ShowsNothingAsNothing) { EXPECT_EQ(progress_line({}, {}), "0 B sent, 0 B received, 0 bit/s, 0:00"); }

TEST(Progress, StandsFiguresThatFall) {
  EXPECT_NE(progress_line(sample(100, 0, 1s), sample(0, 0, 2s)).find(" 0 bit/s"), std::string::npos);
}

TEST(Progress, NeverShowsMoreLostThanAll) {
  Sample odd = sample(1, 0, 1s);
  odd.stats.packets_lost = 5000;
  EXPECT_NE(progress_line({}, odd).find("100.00 % lost"), std::string::npos);
}

TEST(Progress, SumsUpWithTheRateOfTheWhole) {
  EXPECT_EQ(summary_line(sample(125'000'000, 0, 2s)),
            "119.21 MiB sent, 0 B received in 2.00 s, 500.00 Mbit/s, RTT 75.1 ms, 0.50 % lost");
}

TEST(Progress, WritesTimesAsClocksDo) {
  EXPECT_EQ(clock_text(0s), "0:00");
  EXPECT_EQ(clock_text(59'999ms), "0:59");
  EXPECT_EQ(clock_text(60s), "1:00");
  EXPECT_EQ(clock_text(3'599s), "59:59");
  EXPECT_EQ(clock_text(3'723s), "1:02:03");
  EXPECT_EQ(clock_text(100h), "100:00:00");
}

TEST(StatsSum, AddsCountsAndKeepsTheLatestOfTheRest) {
  ConnectionStats first = sample(1, 2, 0s).stats;
  first.lanes = 3;
  ConnectionStats second = sample(10, 20, 0s).stats;
  second.lanes = 4;
  second.rtt = 9us;
  const ConnectionStats both = sum(first, second);
  EXPECT_EQ(both.bytes_sent, 11U);
  EXPECT_EQ(both.bytes_received, 22U);
  EXPECT_EQ(both.packets_sent, 2000U);
  EXPECT_EQ(both.packets_lost, 10U);
  EXPECT_EQ(both.lanes, 4U);
  EXPECT_EQ(both.rtt, 9us);
}

}  // namespace
}  // namespace udtcat::tool
