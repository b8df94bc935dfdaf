// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/wake_moderation.hpp"

#include <gtest/gtest.h>

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBuffer = 8 << 20;

TimePoint at(Duration since) { return TimePoint{} + 1h + since; }

TEST(WakeModeration, LetsTheFirstAfterAPauseInAtOnce) {
  WakeModeration moderation(kBuffer);
  EXPECT_EQ(moderation.after_wake(at(0ms), 1500, 100ms), 0ms);
  EXPECT_EQ(moderation.after_wake(at(10ms), 1500, 100ms), 0ms);
}

TEST(WakeModeration, LetsAStreamGather) {
  WakeModeration moderation(kBuffer);
  std::ignore = moderation.after_wake(at(0ms), 1500, 100ms);
  EXPECT_EQ(moderation.after_wake(at(120us), 1500, 100ms), 2ms);
  EXPECT_EQ(moderation.after_wake(at(1200us), 15'000, 100ms), 2ms);
  EXPECT_EQ(moderation.after_wake(at(2300us), 0, 100ms), 0ms) << "the stream has ended";
}

TEST(WakeModeration, CostsNoMoreThanASmallPartOfARoundTrip) {
  WakeModeration moderation(kBuffer);
  std::ignore = moderation.after_wake(at(0ms), 1500, 8ms);
  EXPECT_EQ(moderation.after_wake(at(120us), 1500, 8ms), 500us);
  EXPECT_EQ(moderation.after_wake(at(240us), 1500, 1ms), 0ms) << "on a LAN it is not worth a timer";
}

TEST(WakeModeration, StaysFarBelowWhatTheSystemWouldDrop) {
  WakeModeration moderation(200'000);
  std::ignore = moderation.after_wake(at(0ms), 1500, 100ms);
  EXPECT_EQ(moderation.after_wake(at(1ms), 100'000, 100ms), 250us);
  EXPECT_EQ(moderation.after_wake(at(2ms), 1'000'000, 100ms), 0ms);
}

}  // namespace
}  // namespace udtcat::transport::native
