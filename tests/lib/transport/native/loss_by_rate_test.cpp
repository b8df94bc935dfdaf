// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/loss_by_rate.hpp"

#include <gtest/gtest.h>

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kBegin = TimePoint() + 1h;

TEST(LossByRateMeter, SumsSpansBySentAndLost) {
  LossByRateMeter meter;
  for (int i = 0; i < 3; ++i) meter.on_sent(kBegin);
  meter.on_lost(kBegin, false);
  for (int i = 0; i < 5; ++i) meter.on_sent(kBegin + 50ms);
  meter.on_lost(kBegin + 99ms, false);
  meter.on_lost(kBegin + 99ms, false);
  const LossByRate sums = meter.sums(kBegin + 1s, 100ms);
  EXPECT_EQ(sums.spans, 2U);
  EXPECT_EQ(sums.sent, 8U);
  EXPECT_EQ(sums.lost, 3U);
  EXPECT_EQ(sums.sent_squared, 9U + 25U);
  EXPECT_EQ(sums.sent_by_lost, 3U + 10U);
}

TEST(LossByRateMeter, LeavesOutSpansWhoseLossIsNotKnownYet) {
  LossByRateMeter meter;
  meter.on_sent(kBegin);
  EXPECT_EQ(meter.sums(kBegin + 149ms, 100ms).spans, 0U);
  EXPECT_EQ(meter.sums(kBegin + 150ms, 100ms).spans, 1U);
}

TEST(LossByRateMeter, LeavesOutSpansOfWhichAQueueLostSome) {
  LossByRateMeter meter;
  meter.on_sent(kBegin);
  meter.on_lost(kBegin, true);
  EXPECT_EQ(meter.sums(kBegin + 1s, 0ms).spans, 0U);
}

TEST(LossByRateMeter, KeepsTheSumsOfSpansThatItForgets) {
  LossByRateMeter meter;
  for (int i = 0; i < 1000; ++i) meter.on_sent(kBegin + i * 50ms);
  meter.on_lost(kBegin, false);
  const LossByRate sums = meter.sums(kBegin + 1h, 0ms);
  EXPECT_EQ(sums.spans, 1000U);
  EXPECT_EQ(sums.lost, 0U) << "found too late";
}

}  // namespace
}  // namespace udtcat::transport::native
