// SPDX-License-Identifier: Apache-2.0
#include "lib/core/stats_clocks.hpp"

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

using namespace std::chrono_literals;

std::chrono::microseconds stalled(const StallClock& clock, StallReason why, StallClock::TimePoint now) {
  EndStats end;
  clock.add_to(end, now);
  return end.stalled[static_cast<std::size_t>(why)];
}

const StallClock::TimePoint kStart{1h};

TEST(StallClock, ChargesTheTimeToTheReasonThatStood) {
  StallClock clock;
  clock.set(kStart, StallReason::source);
  clock.set(kStart + 3ms, StallReason::path);
  clock.set(kStart + 10ms, StallReason::source);
  EXPECT_EQ(stalled(clock, StallReason::source, kStart + 11ms), 4ms);
  EXPECT_EQ(stalled(clock, StallReason::path, kStart + 11ms), 7ms);
}

TEST(StallClock, ChargesNobodyWithWhatIsAnothersOrWasBefore) {
  StallClock clock;
  clock.set(kStart, std::nullopt);
  clock.set(kStart + 1s, StallReason::credit);
  EXPECT_EQ(stalled(clock, StallReason::credit, kStart + 1s), 0ms);
  clock.set(kStart + 2s, std::nullopt);
  EXPECT_EQ(stalled(clock, StallReason::credit, kStart + 9s), 1s);
}

TEST(StallClock, AddsToWhatAnotherLayerSays) {
  StallClock clock;
  clock.set(kStart, StallReason::memory);
  EndStats end;
  end.stalled[static_cast<std::size_t>(StallReason::memory)] = 5ms;
  clock.add_to(end, kStart + 1ms);
  EXPECT_EQ(end.stalled[static_cast<std::size_t>(StallReason::memory)], 6ms);
}

TEST(SpanClock, CountsOnceWhatSeveralDoAtATime) {
  SpanClock clock;
  EXPECT_EQ(clock.sum(kStart), 0ms);
  clock.begin(kStart);
  clock.begin(kStart + 2ms);
  clock.end(kStart + 5ms);
  EXPECT_EQ(clock.sum(kStart + 6ms), 6ms);
  clock.end(kStart + 7ms);
  EXPECT_EQ(clock.sum(kStart + 1s), 7ms);
}

}  // namespace
}  // namespace udtcat::core
