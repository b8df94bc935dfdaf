// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_lines.hpp"

#include <gtest/gtest.h>

namespace udtcat::bench {
namespace {

/// A session that has been given `bytes_sent` and whose packets of 1000 bytes have left.
ConnectionStats stats(std::uint64_t bytes_sent, std::uint64_t packets_sent, std::uint64_t packets_resent = 0) {
  ConnectionStats now;
  now.bytes_sent = bytes_sent;
  now.packets_sent = packets_sent;
  now.packets_resent = packets_resent;
  now.evidence.here.packet_bytes = 1044;
  return now;
}

class BenchBacklogTest : public testing::Test {
 protected:
  BenchBacklog backlog_;
  const std::size_t least_ = backlog_.room(stats(500, 7));  // what was said before counts as gone
};

TEST_F(BenchBacklogTest, AllowsLittleWhereNothingLeaves) {
  EXPECT_GT(least_, 0U);
  EXPECT_EQ(backlog_.room(stats(500 + least_, 7)), 0U);
  EXPECT_EQ(backlog_.room(stats(500 + least_, 7)), 0U);
}

TEST_F(BenchBacklogTest, AllowsWhatLeavesWithinTwoPolls) {
  EXPECT_EQ(backlog_.room(stats(100'500, 107)), least_ + 200'000);
  EXPECT_EQ(backlog_.room(stats(300'500, 207)), least_ + 100'000) << "100 kB wait";
}

TEST_F(BenchBacklogTest, DoesNotCountRetransmissions) { EXPECT_EQ(backlog_.room(stats(500 + least_, 107, 100)), 0U); }

TEST_F(BenchBacklogTest, CountsWhatThePeerHasReceived) {
  ConnectionStats now = stats(500 + least_, 7);
  now.evidence.there = EndEvidence{.bytes_received = 500 + least_};
  EXPECT_EQ(backlog_.room(now), least_);
}

TEST_F(BenchBacklogTest, IsUnboundedWithLibudt) {
  ConnectionStats now = stats(500 + least_, 7);
  now.evidence.here.packet_bytes = 0;
  EXPECT_GT(backlog_.room(now), 100'000'000U);
}

TEST_F(BenchBacklogTest, CountsNoMoreThanWasGiven) {
  EXPECT_EQ(backlog_.room(stats(600, 1007)), least_ + 2'000'000);
  EXPECT_EQ(backlog_.room(stats(600 + least_, 1007)), 0U);
}

}  // namespace
}  // namespace udtcat::bench
