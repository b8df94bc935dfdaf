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
  const LossByRate sums = meter.sums(kBegin + 1s, 100ms).all;
  EXPECT_EQ(sums.spans, 2U);
  EXPECT_EQ(sums.sent, 8U);
  EXPECT_EQ(sums.lost, 3U);
  EXPECT_EQ(sums.sent_squared, 9U + 25U);
  EXPECT_EQ(sums.sent_by_lost, 3U + 10U);
}

TEST(LossByRateMeter, LeavesOutSpansWhoseLossIsNotKnownYet) {
  LossByRateMeter meter;
  meter.on_sent(kBegin);
  EXPECT_EQ(meter.sums(kBegin + 149ms, 100ms).all.spans, 0U);
  EXPECT_EQ(meter.sums(kBegin + 150ms, 100ms).all.spans, 1U);
}

TEST(LossByRateMeter, LeavesOutSpansOfWhichAQueueLostSome) {
  LossByRateMeter meter;
  meter.on_sent(kBegin);
  meter.on_lost(kBegin, true);
  EXPECT_EQ(meter.sums(kBegin + 1s, 0ms).all.spans, 0U);
}

TEST(LossByRateMeter, KeepsTheSumsOfSpansThatItForgets) {
  LossByRateMeter meter;
  for (int i = 0; i < 1000; ++i) meter.on_sent(kBegin + i * 50ms);
  meter.on_lost(kBegin, false);
  const LossByRate sums = meter.sums(kBegin + 1h, 0ms).all;
  EXPECT_EQ(sums.spans, 1000U);
  EXPECT_EQ(sums.lost, 0U) << "found too late";
}

TEST(LossByRateMeter, SumsSpansBehindALossApart) {
  LossByRateMeter meter;
  meter.on_sent(kBegin);
  for (int i = 0; i < 2; ++i) meter.on_sent(kBegin + 50ms);
  meter.on_lost(kBegin, true);
  for (int i = 0; i < 3; ++i) meter.on_sent(kBegin + 100ms);
  meter.on_lost(kBegin + 50ms, false);
  meter.on_lost(kBegin + 100ms, false);
  for (int i = 0; i < 4; ++i) meter.on_sent(kBegin + 150ms);
  const LossByRate behind = meter.sums(kBegin + 1s, 0ms).behind_loss;
  EXPECT_EQ(behind.spans, 3U) << "found before the next span began, and after";
  EXPECT_EQ(behind.sent, 2U + 3U + 4U);
  EXPECT_EQ(behind.lost, 2U);
}

TEST(LossByRateMeter, TakesASpanWithoutPacketsForNoNeighbour) {
  LossByRateMeter meter;
  meter.on_sent(kBegin);
  meter.on_lost(kBegin, false);
  meter.on_sent(kBegin + 100ms);
  EXPECT_EQ(meter.sums(kBegin + 1s, 0ms).behind_loss.spans, 0U);
}

}  // namespace
}  // namespace udtcat::transport::native
