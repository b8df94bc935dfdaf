#include "stream/credit.hpp"

#include <gtest/gtest.h>

namespace udtcat::stream {
namespace {

constexpr std::uint64_t kWindow = 1000;

TEST(SendCredit, GoesAsFarAsItsGrantAndNoFurther) {
  SendCredit credit(kWindow);
  credit.on_sent(600);
  EXPECT_EQ(credit.available_bytes(), 400U);
  EXPECT_TRUE(credit.on_grant(1600));
  EXPECT_EQ(credit.available_bytes(), 1000U);
}

TEST(SendCredit, RefusesAGrantThatShrinks) {
  SendCredit credit(kWindow);
  EXPECT_FALSE(credit.on_grant(kWindow - 1));
}

TEST(ReceiveCredit, RefusesMoreThanItGranted) {
  WindowBudget budget;
  ReceiveCredit credit(kWindow, budget);
  EXPECT_TRUE(credit.on_received(kWindow));
  EXPECT_FALSE(credit.on_received(1));
}

TEST(ReceiveCredit, GrantsAgainAfterHalfAWindow) {
  WindowBudget budget;
  ReceiveCredit credit(kWindow, budget);
  ASSERT_TRUE(credit.on_received(kWindow));
  EXPECT_FALSE(credit.on_consumed(499));
  EXPECT_EQ(credit.on_consumed(1), 1500U);
}

TEST(ReceiveCredit, DoublesTheWindowWhenTheConsumerWaitsForASenderOutOfCredit) {
  WindowBudget budget;
  ReceiveCredit credit(kWindow, budget);
  ASSERT_TRUE(credit.on_received(kWindow));
  EXPECT_EQ(credit.on_consumed(kWindow), kWindow + 2 * kWindow);
}

TEST(ReceiveCredit, SeesASenderThatStoppedAtTheLimitBeforeTheLatest) {
  WindowBudget budget;
  ReceiveCredit credit(kWindow, budget);
  ASSERT_TRUE(credit.on_received(kWindow));
  ASSERT_EQ(credit.on_consumed(600), 1600U);
  EXPECT_FALSE(credit.on_consumed(400)) << "all is consumed, and the sender has not heard of 1600 yet";
  ASSERT_TRUE(credit.on_received(200));
  EXPECT_EQ(credit.on_consumed(200), 1200 + 2 * kWindow);
}

TEST(ReceiveCredit, KeepsTheWindowWhenTheSenderHadCreditLeft) {
  WindowBudget budget;
  ReceiveCredit credit(kWindow, budget);
  ASSERT_TRUE(credit.on_received(900));
  EXPECT_EQ(credit.on_consumed(900), 900 + kWindow);
}

TEST(ReceiveCredit, KeepsTheWindowWhenTheConsumerIsTheBottleneck) {
  WindowBudget budget;
  ReceiveCredit credit(kWindow, budget);
  ASSERT_TRUE(credit.on_received(kWindow));
  EXPECT_EQ(credit.on_consumed(500), 500 + kWindow);
  ASSERT_TRUE(credit.on_received(500));
  EXPECT_EQ(credit.on_consumed(500), 1000 + kWindow) << "there was always something left to consume";
}

TEST(ReceiveCredit, GrowsNoFurtherThanTheLimitOfAStream) {
  WindowBudget budget(1ULL << 40);
  ReceiveCredit credit(kMaxWindowBytes, budget);
  ASSERT_TRUE(credit.on_received(kMaxWindowBytes));
  EXPECT_EQ(credit.on_consumed(kMaxWindowBytes), 2 * kMaxWindowBytes);
}

TEST(ReceiveCredit, SharesOneBudgetAndGivesItBack) {
  WindowBudget budget(3 * kWindow);
  ReceiveCredit patient(kWindow, budget);
  {
    ReceiveCredit greedy(kWindow, budget);
    ASSERT_TRUE(greedy.on_received(kWindow));
    EXPECT_EQ(greedy.on_consumed(kWindow), kWindow + 2 * kWindow);
    ASSERT_TRUE(patient.on_received(kWindow));
    EXPECT_EQ(patient.on_consumed(kWindow), kWindow + kWindow) << "the budget is used up";
  }
  ASSERT_TRUE(patient.on_received(kWindow));
  EXPECT_EQ(patient.on_consumed(kWindow), 2 * kWindow + 2 * kWindow) << "the other stream gave its window back";
}

}  // namespace
}  // namespace udtcat::stream
