// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/path_liveness.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRtt = 20ms;
constexpr Duration kTimeout = 40ms;

/// Asks whenever that is due, and answers nothing.  returns   when the path is silent; none: not within ten seconds
std::optional<Duration> silent_after(PathLiveness& path, Duration rtt, Duration timeout) {
  for (TimePoint now = kStart; now < kStart + 10s; now += 1ms) {
    if (const auto due = path.question_at(now, rtt); due && *due <= now) path.on_asked(now);
    if (path.is_silent(now, rtt, timeout)) return now - kStart;
  }
  return std::nullopt;
}

/// Proves: udt4.silence-time
TEST(PathLiveness, KnowsASilenceWithinFourTenthsOfASecond) {
  PathLiveness path(kStart);
  path.on_sent(kStart, 1200);
  const auto silent = silent_after(path, kRtt, kTimeout);
  ASSERT_TRUE(silent);
  EXPECT_GE(*silent, 200ms);
  EXPECT_LE(*silent, 100ms + 300ms) << "of which the first question waits for a tenth of a second";
}

TEST(PathLiveness, KnowsItWhereDataOnlyCame) {
  PathLiveness path(kStart);
  path.on_data(kStart, 1200);
  const auto silent = silent_after(path, kRtt, kTimeout);
  ASSERT_TRUE(silent);
  EXPECT_LE(*silent, 400ms);
}

/// Proves: udt4.silence-time
TEST(PathLiveness, WaitsForAsLongAsAnAnswerTakesOnALongPath) {
  PathLiveness path(kStart);
  path.on_sent(kStart, 1200);
  const auto silent = silent_after(path, 600ms, 900ms);
  ASSERT_TRUE(silent);
  EXPECT_GE(*silent, 900ms);
  EXPECT_LE(*silent, 1100ms);
}

TEST(PathLiveness, AsksNothingWhileNothingMoves) {
  PathLiveness path(kStart);
  TimePoint now = kStart + 1s;
  EXPECT_FALSE(path.question_at(now, kRtt));
  path.on_data(now, 100);
  EXPECT_FALSE(path.question_at(now, kRtt)) << "that is no transfer";
  path.on_asked(now);
  EXPECT_TRUE(path.question_at(now, kRtt)) << "an answer is owed";
  path.on_answered();
  EXPECT_FALSE(path.question_at(now, kRtt));
}

TEST(PathLiveness, IsNotSilentForAPauseOfThisHost) {
  PathLiveness path(kStart);
  path.on_sent(kStart, 1200);
  EXPECT_FALSE(path.is_silent(kStart + 10s, kRtt, kTimeout)) << "it has asked once only";
}

TEST(PathLiveness, IsNotSilentForALossOrTwo) {
  PathLiveness path(kStart);
  for (TimePoint now = kStart; now < kStart + 10s; now += 250ms) {
    for (int datagram = 0; datagram < 50; ++datagram) path.on_sent(now, 1200);
    path.on_asked(now + 100ms);
    EXPECT_FALSE(path.is_silent(now + 249ms, kRtt, kTimeout));
    path.on_answered();
  }
}

TEST(PathLiveness, AsksSeldomWhereNobodyHasAnsweredForLong) {
  PathLiveness path(kStart);
  path.on_sent(kStart, 1200);
  int asked = 0;
  for (TimePoint now = kStart; now < kStart + 40s; now += 1ms)
    if (const auto due = path.question_at(now, kRtt); due && *due <= now) {
      path.on_asked(now);
      ++asked;
    }
  EXPECT_LE(asked, 40);
}

}  // namespace
}  // namespace udtcat::transport::native
