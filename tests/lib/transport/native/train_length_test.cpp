// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/train_length.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTrain = 1ms;
constexpr int kAll = TrainLength::kEnoughLost;
constexpr int kFewAhead = kAll / (TrainLength::kBehindToAhead + 1);

/// returns   whether trains became shorter
bool lose(TrainLength& length, TimePoint now, int ahead, int behind) {
  bool shorter = false;
  for (int i = 0; i < ahead; ++i) shorter |= length.on_lost(now, now, kTrain, false);
  for (int i = 0; i < behind; ++i) shorter |= length.on_lost(now, now, kTrain, true);
  return shorter;
}

TEST(TrainLength, HalvesWhereTheSecondHalvesOfTrainsLoseMost) {
  TrainLength length;
  EXPECT_TRUE(lose(length, kStart, kFewAhead, kAll - kFewAhead));
  EXPECT_EQ(length.limit(), kTrain / 2);
}

TEST(TrainLength, StaysInRandomLoss) {
  TrainLength length;
  EXPECT_FALSE(lose(length, kStart, kFewAhead + 1, kAll - kFewAhead - 1));
  EXPECT_EQ(length.limit(), Duration::max());
}

TEST(TrainLength, IgnoresTrainsThatLeftBeforeTheLastChange) {
  TrainLength length;
  EXPECT_TRUE(lose(length, kStart, 0, kAll));
  for (int i = 0; i < 2 * kAll; ++i) EXPECT_FALSE(length.on_lost(kStart + 1s, kStart - 1ms, kTrain, true));
}

TEST(TrainLength, NeverFallsBelowItsShortest) {
  TrainLength length;
  for (int i = 0; i < 20; ++i) lose(length, kStart, 0, kAll);
  EXPECT_EQ(length.limit(), TrainLength::kShortest);
}

TEST(TrainLength, IsDoubledForATryAndAfterAFailureLater) {
  TrainLength length;
  lose(length, kStart, 0, kAll);
  length.on_sent(kStart + 10s - 1ns, 4ms);
  EXPECT_EQ(length.limit(), kTrain / 2);
  length.on_sent(kStart + 10s, 4ms);
  EXPECT_EQ(length.limit(), kTrain);
  EXPECT_TRUE(lose(length, kStart + 10s, 0, kAll));
  length.on_sent(kStart + 30s - 1ns, 4ms);
  EXPECT_EQ(length.limit(), kTrain / 2);
  length.on_sent(kStart + 30s, 4ms);
  EXPECT_EQ(length.limit(), kTrain);
}

TEST(TrainLength, HasNoLimitOnceTheLongestTrainFits) {
  TrainLength length;
  lose(length, kStart, 0, kAll);
  length.on_sent(kStart + 10s, kTrain);
  EXPECT_EQ(length.limit(), Duration::max());
}

}  // namespace
}  // namespace udtcat::transport::native
