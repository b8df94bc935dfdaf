// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/pacer.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

/// How many bytes the pacer lets leave at `now`, in packets of a thousand.
std::size_t sent_at(Pacer& pacer, TimePoint now) {
  std::size_t sent = 0;
  for (; pacer.ready(now); sent += 1000) pacer.on_sent(now, 1000);
  return sent;
}

TEST(Pacer, DoesNotPaceWithoutARate) {
  Pacer pacer;
  pacer.on_sent(kStart, 1 << 30);
  EXPECT_TRUE(pacer.ready(kStart));
  EXPECT_EQ(pacer.train_bytes(1000), SIZE_MAX);
}

TEST(Pacer, SpacesTrainsByTheirLengthAtTheRate) {
  Pacer pacer;
  pacer.set_rate(1'000'000);
  pacer.on_sent(kStart, 10'000);
  EXPECT_FALSE(pacer.ready(kStart + 7ms));
  EXPECT_TRUE(pacer.ready(kStart + 8ms)) << "10 ms less what may be caught up";
  EXPECT_EQ(pacer.deadline(kStart), kStart + 8ms);
}

TEST(Pacer, KeepsTheRateOverALongTime) {
  Pacer pacer;
  pacer.set_rate(1'000'000);
  std::size_t sent = 0;
  for (TimePoint now = kStart; now < kStart + 1s; now += 700us) sent += sent_at(pacer, now);
  EXPECT_NEAR(static_cast<double>(sent), 1e6, 5'000);
}

TEST(Pacer, KeepsTheRateWhereItsDriverIsLate) {
  Pacer pacer;
  pacer.set_rate(1'000'000);
  std::size_t sent = 0;
  for (TimePoint now = kStart; now < kStart + 1s; now += 25ms) sent += sent_at(pacer, now);
  EXPECT_NEAR(static_cast<double>(sent), 1e6, 30'000);
}

TEST(Pacer, CatchesUpALateWakeUpToALimit) {
  Pacer pacer;
  pacer.set_rate(1'000'000);
  pacer.on_sent(kStart, 1000);
  EXPECT_EQ(sent_at(pacer, kStart + 1s), 31'000U) << "thirty milliseconds, and one packet that is paid for afterwards";
}

TEST(Pacer, DoesNotCatchUpIdleTime) {
  Pacer pacer;
  pacer.set_rate(1'000'000);
  pacer.on_sent(kStart, 1000);
  for (TimePoint now = kStart; now < kStart + 1s; now += 100ms) pacer.on_idle(now);
  EXPECT_EQ(sent_at(pacer, kStart + 1s), 3000U) << "two milliseconds, and one packet that is paid for afterwards";
}

TEST(Pacer, DoesNotCatchUpALateWakeUpAfterIdleTime) {
  Pacer pacer;
  pacer.set_rate(1'000'000);
  pacer.on_sent(kStart, 1000);
  pacer.on_sent(kStart + 28ms, 1000);
  pacer.on_idle(kStart + 28ms);
  EXPECT_EQ(sent_at(pacer, kStart + 10s), 3000U);
}

TEST(Pacer, DoesNotCatchUpTheTimeBeforeItHadARate) {
  Pacer pacer;
  pacer.on_sent(kStart, 1000);
  pacer.set_rate(1'000'000);
  EXPECT_EQ(sent_at(pacer, kStart + 1ms), 2000U);
}

TEST(Pacer, CatchesUpALateWakeUpThoughTheQueueIsRefilledInPieces) {
  Pacer pacer;
  pacer.set_rate(1'000'000);
  std::size_t sent = 0;
  for (TimePoint now = kStart; now < kStart + 1s; now += 25ms)
    for (; pacer.ready(now); sent += 1000) {
      pacer.on_sent(now, 1000);
      pacer.on_idle(now);
      pacer.on_work(now);
    }
  EXPECT_NEAR(static_cast<double>(sent), 1e6, 30'000);
}

TEST(Pacer, DoesNotWakeMoreOftenThanItsGrain) {
  Pacer pacer;
  pacer.set_rate(1'000'000'000);
  pacer.on_sent(kStart, 2'010'000);
  EXPECT_FALSE(pacer.ready(kStart));
  EXPECT_EQ(pacer.deadline(kStart), kStart + Pacer::kGrain);
}

TEST(Pacer, MakesTrainsOfAMillisecondAndOnSlowPathsOfUpToThirtyTwoPackets) {
  Pacer pacer;
  pacer.set_rate(100'000'000);
  EXPECT_EQ(pacer.train_bytes(1000), 100'000U);
  pacer.set_rate(10'000'000);
  EXPECT_EQ(pacer.train_bytes(1000), 32'000U);
  pacer.set_rate(1'000'000);
  EXPECT_EQ(pacer.train_bytes(1000), 4000U) << "four milliseconds";
  pacer.set_rate(150'000);
  EXPECT_EQ(pacer.train_bytes(1000), 2000U);
}

TEST(Pacer, SendsSinglePacketsBelow150KilobytesASecond) {
  Pacer pacer;
  pacer.set_rate(140'000);
  EXPECT_EQ(pacer.train_bytes(1000), 1000U);
}

TEST(Pacer, CatchesUpSlowlyWhereTrainsAreLimited) {
  Pacer pacer;
  pacer.set_rate(1'000'000);
  pacer.limit_trains(2ms);
  EXPECT_EQ(pacer.train_bytes(1000), 2000U);
  pacer.on_sent(kStart, 1000);
  EXPECT_LE(sent_at(pacer, kStart + 20ms), 4000U) << "a driver that was late sends no burst of twenty";
  pacer.limit_trains(Duration::max());
  EXPECT_EQ(pacer.train_bytes(1000), 4000U);
}

TEST(Pacer, AsksForATrainAndFourMillisecondsAhead) {
  Pacer pacer;
  EXPECT_EQ(pacer.ahead_bytes(1000), UINT64_MAX) << "nobody knows";
  pacer.set_rate(10'000'000);
  EXPECT_EQ(pacer.ahead_bytes(1000), 32'000U + 40'000U);
  pacer.set_rate(1000);
  EXPECT_EQ(pacer.ahead_bytes(1000), 1000U + 4U);
}

}  // namespace
}  // namespace udtcat::transport::native
