// SPDX-License-Identifier: Apache-2.0
#include "trees/hand_over.hpp"

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

TEST(HandOvers, KeepTheOrderAndTheBound) {
  HandOver<int> things(2);
  std::atomic<int> given{0};
  std::thread giving([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(things.give(i));
      ++given;
    }
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(given, i + 2);
    EXPECT_EQ(things.take(), i);
  }
  giving.join();
  EXPECT_TRUE(things.empty());
}

TEST(HandOvers, AreIdleOnceTheirTakerComesForMore) {
  HandOver<int> things(2);
  EXPECT_TRUE(things.idle());
  EXPECT_TRUE(things.give(1));
  EXPECT_FALSE(things.idle());
  EXPECT_EQ(things.take(), 1);
  EXPECT_TRUE(things.empty());
  EXPECT_FALSE(things.idle()) << "it is at work on it";
  auto more = std::async(std::launch::async, [&] { return things.take(); });
  things.wait_until_idle();
  things.close();
  EXPECT_FALSE(more.get());
}

TEST(HandOvers, ThatAreClosedGiveWhatIsLeftAndTakeNoMore) {
  HandOver<int> things(1);
  EXPECT_TRUE(things.give(1));
  auto waiting = std::async(std::launch::async, [&] { return things.give(2); });
  things.close();
  EXPECT_FALSE(waiting.get());
  EXPECT_FALSE(things.give(3));
  things.wait_until_idle();
  EXPECT_EQ(things.take(), 1);
  EXPECT_FALSE(things.take());
}

}  // namespace
}  // namespace udtcat::trees
