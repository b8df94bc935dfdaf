// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/fair_queue.hpp"

#include <string>

#include <gtest/gtest.h>

namespace udtcat::bridge {
namespace {

struct FairQueueTest : ::testing::Test {
  /// As many as may be under way; "-" where there is none.
  std::string take(std::size_t count) {
    std::string taken;
    for (std::size_t i = 0; i < count; ++i) {
      const auto entry = queue.next();
      taken += entry ? entry->item : '-';
    }
    return taken;
  }
  void add(int owner, const std::string& items) {
    for (const char item : items) queue.add(owner, item);
  }
  FairQueue<int, char> queue{4, 2};
};

TEST_F(FairQueueTest, TakesTheItemsOfOneInTheirOrder) {
  add(1, "ab");
  EXPECT_EQ(take(3), "ab-");
}

TEST_F(FairQueueTest, LetsOwnersTakeTurns) {
  add(1, "abc");
  add(2, "x");
  EXPECT_EQ(take(3), "axb");
}

TEST_F(FairQueueTest, PutsAnOwnerThatReturnsBehindTheOthers) {
  add(1, "a");
  add(2, "x");
  queue.remove(1, 'a');
  add(1, "b");
  EXPECT_EQ(take(3), "xb-");
}

TEST_F(FairQueueTest, LimitsTheItemsOfOneOwner) {
  add(1, "abc");
  EXPECT_EQ(take(3), "ab-");
  queue.done(1);
  EXPECT_EQ(take(2), "c-");
}

TEST_F(FairQueueTest, LimitsTheItemsOfAll) {
  for (int owner = 1; owner <= 5; ++owner) add(owner, "a");
  EXPECT_EQ(take(5), "aaaa-");
  queue.done(3);
  EXPECT_EQ(take(2), "a-");
}

TEST_F(FairQueueTest, TakesNoneThatWasRemoved) {
  add(1, "abc");
  queue.remove(1, 'b');
  EXPECT_EQ(take(3), "ac-");
}

TEST_F(FairQueueTest, SkipsAnOwnerWithoutItems) {
  add(1, "a");
  add(2, "x");
  queue.remove(1, 'a');
  EXPECT_EQ(take(2), "x-");
  add(1, "b");
  EXPECT_EQ(take(1), "b");
}

TEST_F(FairQueueTest, RemovesNothingThatDoesNotWait) {
  queue.remove(1, 'a');
  add(1, "a");
  EXPECT_EQ(take(1), "a");
  queue.remove(1, 'a');
  queue.done(1);
  EXPECT_EQ(take(1), "-");
}

}  // namespace
}  // namespace udtcat::bridge
