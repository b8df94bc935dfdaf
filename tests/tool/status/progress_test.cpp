// SPDX-License-Identifier: Apache-2.0
#include "tool/status/progress.hpp"

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSize = 3'000'000'000;
constexpr std::uint64_t kRate = 412'000'000;

/// A transfer of a file of kSize at kRate bytes per second.
ProgressSnapshot at(std::chrono::milliseconds time) {
  ProgressSnapshot snapshot{.now = {.elapsed = time}, .patience = 40s};
  snapshot.now.stats.bytes_sent = kRate * static_cast<std::uint64_t>(time.count()) / 1000;
  snapshot.now.stats.packets_sent = 1'000'000;
  snapshot.now.stats.packets_lost = 1'000;
  snapshot.now.stats.rtt = 75'120us;
  snapshot.amount = Amount{snapshot.now.stats.bytes_sent, kSize};
  return snapshot;
}

/// The lines of each half second from `begin` to `end`; the last is given.
std::string run(Progress& progress, std::chrono::milliseconds begin, std::chrono::milliseconds end,
                std::size_t columns = kWholeLine) {
  for (auto time = begin; time < end; time += 500ms) std::ignore = progress.line(at(time), columns);
  return progress.line(at(end), columns);
}

std::string line_of_width(std::size_t columns) {
  Progress progress;
  return run(progress, 0ms, 3500ms, columns);
}

TEST(Progress, IsAsWideAsTheWindowAndLeavesOutWhatIsWantedLeast) {
  EXPECT_EQ(line_of_width(200), "[ 48 %] 1.44 GB of 3.00 GB  412 MB/s  0:03 left  RTT 75.1 ms  0.1 % lost");
  EXPECT_EQ(line_of_width(80), line_of_width(200));
  EXPECT_EQ(line_of_width(60), "[ 48 %] 1.44 GB of 3.00 GB  412 MB/s  0:03 left  RTT 75.1 ms");
  EXPECT_EQ(line_of_width(59), "[ 48 %] 1.44 GB of 3.00 GB  412 MB/s  0:03 left");
  EXPECT_EQ(line_of_width(40), "[ 48 %] 1.44 GB of 3.00 GB  412 MB/s");
  EXPECT_EQ(line_of_width(20), "[ 48 %]");
  for (std::size_t columns = 7; columns < 100; ++columns) EXPECT_LE(line_of_width(columns).size(), columns);
}

TEST(Progress, ShowsNoRateBeforeOneWasMeasuredAndNoTimeLeftBeforeItMeansSomething) {
  Progress progress;
  EXPECT_EQ(run(progress, 500ms, 1000ms), "[ 13 %] 412 MB of 3.00 GB  0:01  RTT 75.1 ms  0.1 % lost");
  EXPECT_EQ(run(progress, 1500ms, 2000ms), "[ 27 %] 824 MB of 3.00 GB  412 MB/s  0:02  RTT 75.1 ms  0.1 % lost");
  EXPECT_NE(run(progress, 2500ms, 3500ms).find("0:03 left"), std::string::npos);
}

TEST(Progress, ShowsTimeWhereNobodyKnowsHowMuchThereIs) {
  Progress progress;
  ProgressSnapshot snapshot = at(0ms);
  snapshot.amount.reset();
  std::ignore = progress.line(snapshot, kWholeLine);
  snapshot = at(5s);
  snapshot.amount.reset();
  EXPECT_EQ(progress.line(snapshot, kWholeLine), "2.06 GB sent  412 MB/s  0:05  RTT 75.1 ms  0.1 % lost");
}

TEST(Progress, ShowsNoPerCentWhereThereIsMoreThanWasForetold) {
  Progress progress;
  const std::string line = run(progress, 0ms, 10s);
  EXPECT_EQ(line, "4.12 GB sent  412 MB/s  0:10  RTT 75.1 ms  0.1 % lost");
}

TEST(Progress, IsAtAHundredOnlyWithTheLastByte) {
  ProgressSnapshot snapshot;
  snapshot.amount = Amount{kSize - 1, kSize};
  EXPECT_EQ(Progress().line(snapshot, 7), "[ 99 %]");
  snapshot.amount = Amount{kSize, kSize};
  EXPECT_EQ(Progress().line(snapshot, 7), "[100 %]");
  snapshot.amount = Amount{0, 0};
  EXPECT_EQ(Progress().line(snapshot, kWholeLine), "0 B sent  0:00");
}

TEST(Progress, SaysInAnOutageHowLongItHasLastedAndWhenItWillBeTheEnd) {
  Progress progress;
  std::ignore = run(progress, 0ms, 5s);
  ProgressSnapshot silent = at(5s);
  silent.now.elapsed = 13s;
  silent.now.stats.silence = 8'400ms;
  silent.now.stats.packets_lost = 930'000;
  EXPECT_EQ(progress.line(silent, kWholeLine), "[ 68 %] 2.06 GB of 3.00 GB  no answer for 8 s, giving up at 40");
  EXPECT_EQ(progress.line(silent, 40), "no answer for 8 s, giving up at 40");
}

TEST(Progress, MeasuresAnewAfterAnOutage) {
  Progress progress;
  std::ignore = run(progress, 0ms, 3s);
  ProgressSnapshot silent = at(3s);
  silent.now.stats.silence = 3s;
  std::ignore = progress.line(silent, kWholeLine);
  EXPECT_EQ(run(progress, 5000ms, 5500ms).find("MB/s"), std::string::npos);
  EXPECT_NE(run(progress, 6000ms, 6500ms).find("412 MB/s"), std::string::npos);
}

TEST(Progress, KeepsTheTimeLeftSteadyThroughAStallOfASecond) {
  Progress progress;
  const auto slow = [](std::chrono::milliseconds time, std::chrono::milliseconds moving) {
    ProgressSnapshot snapshot = at(moving);
    snapshot.now.elapsed = time;
    snapshot.amount = Amount{snapshot.now.stats.bytes_sent, 100 * kSize};
    return snapshot;
  };
  for (auto time = 0ms; time <= 20s; time += 500ms) std::ignore = progress.line(slow(time, time), kWholeLine);
  const std::string stalled = progress.line(slow(21s, 20s), kWholeLine);
  EXPECT_NE(stalled.find("12:38 left"), std::string::npos) << stalled << ": 11:48 without the stall";
}

TEST(Progress, SaysWhatItWaitsFor) {
  ProgressSnapshot snapshot = at(8s);
  snapshot.amount = Amount{kSize, kSize};
  snapshot.waits = "waiting for 'zfs recv' to end (0:12)";
  EXPECT_EQ(Progress().line(snapshot, 70), "[100 %] 3.00 GB of 3.00 GB  waiting for 'zfs recv' to end (0:12)");
  EXPECT_EQ(Progress().line(snapshot, 40), "waiting for 'zfs recv' to end (0:12)");
}

TEST(Progress, SurvivesFiguresThatFall) {
  Progress progress;
  std::ignore = progress.line(at(5s), kWholeLine);
  ProgressSnapshot fewer = at(1s);
  fewer.now.elapsed = 7s;
  EXPECT_NE(progress.line(fewer, kWholeLine).find("  0 B/s  "), std::string::npos);
}

TEST(Progress, CountsAndNamesTheThingsThatMoveWhereThereIsRoom) {
  const auto with = [](std::uint64_t all_bytes, std::size_t columns) {
    Progress progress;
    std::ignore = progress.line(at(0ms), columns);
    ProgressSnapshot snapshot = at(2s);
    snapshot.amount = Amount{824'000'000, all_bytes, "12 of 81 names", "data/a"};
    return progress.line(snapshot, columns);
  };
  const std::string whole =
      "[ 27 %] 824 MB of 3.00 GB  412 MB/s  0:02  RTT 75.1 ms  0.1 % lost  12 of 81 names  data/a";
  EXPECT_EQ(with(kSize, kWholeLine), whole);
  EXPECT_EQ(with(kSize, whole.size()), whole);
  EXPECT_EQ(with(kSize, whole.size() - 1) + "  data/a", whole);
  EXPECT_EQ(with(0, kWholeLine), "824 MB  412 MB/s  0:02  RTT 75.1 ms  0.1 % lost  12 of 81 names  data/a");
}

}  // namespace
}  // namespace udtcat::tool
