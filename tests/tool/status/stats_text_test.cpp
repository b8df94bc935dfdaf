// SPDX-License-Identifier: Apache-2.0
#include "tool/status/stats_text.hpp"

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

TEST(Summary, SaysThatNothingHadToBeMoved) {
  const Sample end{.stats = {}, .elapsed = std::chrono::milliseconds(1920)};
  EXPECT_EQ(summary_line(end), "nothing had to be moved, in 1.92 s");
}

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

TEST(Summary, HasTheRateOfTheWholeInBytesAndInBits) {
  EXPECT_EQ(summary_line(sample(125'000'000, 0, 2s)),
            "125 MB sent in 2.00 s, 62.5 MB/s (500 Mbit/s), RTT 75.1 ms, 0.50 % lost");
}

TEST(Summary, ShowsNoRoundTripBeforeOneWasMeasured) {
  Sample end = sample(1'000'000, 0, 1s);
  end.stats.rtt.reset();
  EXPECT_EQ(summary_line(end), "1.00 MB sent in 1.00 s, 1.00 MB/s (8.00 Mbit/s), 0.50 % lost");
}

TEST(Summary, NamesTheFlowsWhereThereAreSeveral) {
  Sample end = sample(1'000'000, 0, 1s);
  end.stats.flows = 4;
  EXPECT_EQ(summary_line(end), "1.00 MB sent in 1.00 s, 1.00 MB/s (8.00 Mbit/s), 4 flows, RTT 75.1 ms, 0.50 % lost");
}

TEST(Summary, NeverShowsMoreLostThanAll) {
  Sample odd = sample(1, 0, 1s);
  odd.stats.packets_lost = 5000;
  EXPECT_NE(summary_line(odd).find("100.00 % lost"), std::string::npos);
}

TEST(PayloadText, LeavesOutTheWayOnWhichNothingMoved) {
  EXPECT_EQ(payload_text(sample(3, 4'000, 1s).stats), "3 B sent, 4.00 kB received");
  EXPECT_EQ(payload_text(sample(3, 0, 1s).stats), "3 B sent");
  EXPECT_EQ(payload_text(sample(0, 4'000, 1s).stats), "4.00 kB received");
  EXPECT_EQ(payload_text({}), "0 B sent");
}

TEST(ClockText, IsWrittenAsClocksDo) {
  EXPECT_EQ(clock_text(0s), "0:00");
  EXPECT_EQ(clock_text(59'999ms), "0:59");
  EXPECT_EQ(clock_text(60s), "1:00");
  EXPECT_EQ(clock_text(3'599s), "59:59");
  EXPECT_EQ(clock_text(3'723s), "1:02:03");
  EXPECT_EQ(clock_text(100h), "100:00:00");
}

}  // namespace
}  // namespace udtcat::tool
