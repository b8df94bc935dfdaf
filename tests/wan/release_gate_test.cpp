// SPDX-License-Identifier: Apache-2.0
#include "wan/release_gate.hpp"

#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

class ReleaseGateTest : public testing::Test {
 protected:
  void release(std::chrono::nanoseconds least, std::chrono::nanoseconds most) {
    gate_.set({.least = least, .most = most});
  }
  /// The times at which it has opened, seen each 100 us.
  std::set<TimePoint> openings(std::chrono::nanoseconds time) {
    std::set<TimePoint> seen;
    std::ignore = gate_.last_open(now_);
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100us)
      if (const TimePoint open = gate_.last_open(now_); now_ - open < 100us) seen.insert(open);
    return seen;
  }

  Random random_{3};
  ReleaseGate gate_{{}, random_};
  TimePoint now_{1h};
};

TEST_F(ReleaseGateTest, IsAlwaysOpenUnlessItHasAnInterval) {
  EXPECT_EQ(gate_.last_open(now_), now_);
  EXPECT_EQ(gate_.opens_for(now_ + 5ms), now_ + 5ms);
}

TEST_F(ReleaseGateTest, OpensEachInterval) {
  release(8ms, 8ms);
  EXPECT_EQ(openings(800ms).size(), 100U);
  EXPECT_LE(now_ - gate_.last_open(now_), 8ms);
  EXPECT_EQ(gate_.opens_for(now_ + 1ms) - gate_.last_open(now_), 8ms);
}

TEST_F(ReleaseGateTest, OpensAtRandomIntervalsInItsRange) {
  release(4ms, 20ms);
  const auto seen = openings(12s);
  EXPECT_NEAR(static_cast<double>(seen.size()), 1000, 50) << "12 ms on average";
  for (auto next = std::next(seen.begin()); next != seen.end(); ++next) {
    EXPECT_GE(*next - *std::prev(next), 4ms);
    EXPECT_LE(*next - *std::prev(next), 20ms);
  }
}

TEST_F(ReleaseGateTest, WakesForWhatIsDueBeforeItOpensAndAsksAgainForWhatIsDueLater) {
  release(10ms, 10ms);
  const TimePoint open = gate_.last_open(now_);
  EXPECT_EQ(gate_.opens_for(open + 1ns), open + 10ms);
  EXPECT_EQ(gate_.opens_for(open + 10ms), open + 10ms);
  EXPECT_EQ(gate_.opens_for(open + 11ms), open + 11ms);
  EXPECT_EQ(gate_.opens_for(open - 1ms), open - 1ms) << "at once";
}

TEST_F(ReleaseGateTest, TakesAShorterIntervalAtOnce) {
  release(30s, 30s);
  std::ignore = gate_.last_open(now_);
  release(4ms, 4ms);
  now_ += 8ms;
  EXPECT_LE(now_ - gate_.last_open(now_), 4ms);
}

TEST_F(ReleaseGateTest, NeedsNoTimeForALongRest) {
  release(100us, 100us);
  std::ignore = gate_.last_open(now_);
  now_ += 24h * 365;
  EXPECT_LE(now_ - gate_.last_open(now_), 100us);
}

}  // namespace
}  // namespace udtcat::wan
