// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/turns.hpp"

#include <string>

#include <gtest/gtest.h>

namespace udtcat::bridge {
namespace {

struct TurnsTest : ::testing::Test {
  /// As many as may be under way; "-" where there is none.
  std::string take(std::size_t count) {
    std::string taken;
    for (std::size_t i = 0; i < count; ++i) {
      const auto turn = turns.next();
      taken += turn ? turn->item : '-';
    }
    return taken;
  }
  void add(int owner, const std::string& items) {
    for (const char item : items) turns.add(owner, item);
  }
  Turns<int, char> turns{4, 2};
};

TEST_F(TurnsTest, TakesTheItemsOfOneInTheirOrder) {
  add(1, "ab");
  EXPECT_EQ(take(3), "ab-");
}

TEST_F(TurnsTest, LetsOwnersTakeTurns) {
  add(1, "abc");
  add(2, "x");
  EXPECT_EQ(take(3), "axb");
}

TEST_F(TurnsTest, HasOneThatLeftAndComesAgainStandBehindTheOthers) {
  add(1, "a");
  add(2, "x");
  turns.remove(1, 'a');
  add(1, "b");
  EXPECT_EQ(take(3), "xb-");
}

TEST_F(TurnsTest, GivesNobodyMoreThanItsShare) {
  add(1, "abc");
  EXPECT_EQ(take(3), "ab-");
  turns.done(1);
  EXPECT_EQ(take(2), "c-");
}

TEST_F(TurnsTest, GivesNoMoreThanThereIs) {
  for (int owner = 1; owner <= 5; ++owner) add(owner, "a");
  EXPECT_EQ(take(5), "aaaa-");
  turns.done(3);
  EXPECT_EQ(take(2), "a-");
}

TEST_F(TurnsTest, TakesNoneThatWasRemoved) {
  add(1, "abc");
  turns.remove(1, 'b');
  EXPECT_EQ(take(3), "ac-");
}

TEST_F(TurnsTest, PassesOverWhoHasNothingLeft) {
  add(1, "a");
  add(2, "x");
  turns.remove(1, 'a');
  EXPECT_EQ(take(2), "x-");
  add(1, "b");
  EXPECT_EQ(take(1), "b");
}

TEST_F(TurnsTest, RemovesNothingThatDoesNotWait) {
  turns.remove(1, 'a');
  add(1, "a");
  EXPECT_EQ(take(1), "a");
  turns.remove(1, 'a');
  turns.done(1);
  EXPECT_EQ(take(1), "-");
}

}  // namespace
}  // namespace udtcat::bridge
