// SPDX-License-Identifier: Apache-2.0
#include "lib/core/evidence_clocks.hpp"

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

using namespace std::chrono_literals;

std::chrono::microseconds held(const HoldClock& clock, Hold why, HoldClock::TimePoint now) {
  EndEvidence evidence;
  clock.add_to(evidence, now);
  return evidence.held[static_cast<std::size_t>(why)];
}

const HoldClock::TimePoint kStart{1h};

TEST(HoldClock, ChargesTheTimeToTheReasonThatStood) {
  HoldClock clock;
  clock.hold(kStart, Hold::source);
  clock.hold(kStart + 3ms, Hold::path);
  clock.hold(kStart + 10ms, Hold::source);
  EXPECT_EQ(held(clock, Hold::source, kStart + 11ms), 4ms);
  EXPECT_EQ(held(clock, Hold::path, kStart + 11ms), 7ms);
}

TEST(HoldClock, ChargesNobodyWithWhatIsAnothersOrWasBefore) {
  HoldClock clock;
  clock.hold(kStart, std::nullopt);
  clock.hold(kStart + 1s, Hold::credit);
  EXPECT_EQ(held(clock, Hold::credit, kStart + 1s), 0ms);
  clock.hold(kStart + 2s, std::nullopt);
  EXPECT_EQ(held(clock, Hold::credit, kStart + 9s), 1s);
}

TEST(HoldClock, AddsToWhatAnotherLayerSays) {
  HoldClock clock;
  clock.hold(kStart, Hold::memory);
  EndEvidence evidence;
  evidence.held[static_cast<std::size_t>(Hold::memory)] = 5ms;
  clock.add_to(evidence, kStart + 1ms);
  EXPECT_EQ(evidence.held[static_cast<std::size_t>(Hold::memory)], 6ms);
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
