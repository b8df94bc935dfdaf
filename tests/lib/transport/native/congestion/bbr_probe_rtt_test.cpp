// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/bbr_probe_rtt.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/bottleneck.hpp"
#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

TEST(ProbeRttSchedule, AreTheSameForAllFlowsOfAHost) {
  ProbeRttSchedule early;
  ProbeRttSchedule late;
  EXPECT_FALSE(early.due(at(100ms), 10s, false)) << "no moment has passed";
  EXPECT_FALSE(early.due(at(2'999ms), 10s, false));
  EXPECT_FALSE(late.due(at(2'990ms), 10s, false));
  EXPECT_TRUE(early.due(at(3'001ms), 10s, false));
  EXPECT_TRUE(late.due(at(3'004ms), 10s, false));
  EXPECT_FALSE(late.due(at(3'005ms), 10s, false)) << "once";
}

TEST(ProbeRttSchedule, AreNotUsedByFlowsThatSawTheMinimumLately) {
  ProbeRttSchedule schedule;
  EXPECT_FALSE(schedule.due(at(3s), 1s, false));
  EXPECT_FALSE(schedule.due(at(4s), 2s, false)) << "not in between";
  EXPECT_TRUE(schedule.due(at(6s), 5s, false));
}

TEST(ProbeRttSchedule, AreUsedSeldomWhileOthersKeepTheQueueFull) {
  ProbeRttSchedule schedule;
  schedule.on_end(true);
  int used = 0;
  for (auto time = Duration{0}; time < 36s; time += 10ms) used += schedule.due(at(time), 3s, false) ? 1 : 0;
  EXPECT_EQ(used, 3) << "9, 18, 27 s";
  schedule.on_end(false);
  EXPECT_TRUE(schedule.due(at(39s), 3s, false));
}

TEST(ProbeRttSchedule, TellWhetherAllFlowsOfAQueueStopped) {
  ProbeRttSchedule schedule;
  EXPECT_FALSE(schedule.queue_was_ours());
  schedule.on_begin(true);
  schedule.on_end(true);
  EXPECT_FALSE(schedule.queue_was_ours()) << "others did not stop";
  schedule.on_begin(true);
  schedule.on_end(false);
  EXPECT_TRUE(schedule.queue_was_ours());
  schedule.on_begin(false);
  schedule.on_end(false);
  EXPECT_FALSE(schedule.queue_was_ours()) << "there was none";
}

TEST(ProbeRttSchedule, EmptyAQueueThatFlowsShare) {
  Path path{.rate = mbit(200), .rtt = 40ms, .buffer_bytes = 4'000'000, .packet_bytes = 2'912};
  Bottleneck bottleneck(path);
  for (int flow = 0; flow < 8; ++flow) bottleneck.add(CongestionKind::bbr, at(flow * 130ms));
  for (const auto moment : {12s, 15s, 18s}) {
    auto least = path.buffer_bytes;
    for (auto time = Duration{moment}; time < moment + 400ms; time += 5ms) {
      bottleneck.run_until(time);
      least = std::min(least, bottleneck.queued_bytes());
    }
    EXPECT_LE(least, bottleneck.bdp_bytes() / 16) << moment.count();
  }
}

}  // namespace
}  // namespace udtcat::transport::native::test
