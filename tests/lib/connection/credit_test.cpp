// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/credit.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include <udtcat/units.hpp>

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kCreditWindow = 1000;

TEST(SendCredit, GoesAsFarAsItsGrantAndNoFurther) {
  SendCredit credit(kCreditWindow);
  credit.on_sent(600);
  EXPECT_EQ(credit.available_bytes(), 400U);
  EXPECT_TRUE(credit.on_grant(1600));
  EXPECT_EQ(credit.available_bytes(), 1000U);
}

TEST(SendCredit, RefusesAGrantThatShrinks) {
  SendCredit credit(kCreditWindow);
  EXPECT_FALSE(credit.on_grant(kCreditWindow - 1));
}

TEST(ReceiveCredit, RefusesMoreThanItGranted) {
  WindowBudget budget{kWindowBudgetBytes};
  ReceiveCredit credit(kCreditWindow, budget);
  EXPECT_TRUE(credit.on_received(kCreditWindow));
  EXPECT_FALSE(credit.on_received(1));
}

constexpr auto kRtt = 100ms;

/// A consumer that takes whatever is granted to it, at a given pace.
class Consumer {
 public:
  explicit Consumer(WindowBudget& budget) : credit_(kCreditWindow, budget) {}

  /// Takes `bytes` that have come since, after `later`.  returns   the window, if a new limit is announced
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::chrono::milliseconds later) {
    EXPECT_TRUE(credit_.on_received(bytes));
    now_ += later;
    taken_ += bytes;
    const auto limit = credit_.on_consumed(bytes, now_, kRtt);
    if (!limit) return std::nullopt;
    return *limit - taken_;
  }

 private:
  ReceiveCredit credit_;
  TimePoint now_{};
  std::uint64_t taken_ = 0;
};

TEST(ReceiveCredit, OpensUpAsSoonAsTheConsumerTakesAnything) {
  WindowBudget budget{kWindowBudgetBytes};
  Consumer consumer(budget);
  EXPECT_EQ(consumer.take(1, 0ms), 16 * kMiB) << "slow start need not wait for it";
}

TEST(ReceiveCredit, GivesTheOnlyStreamThereWillBeMore) {
  WindowBudget budget(kWindowBudgetBytes, WindowBudget::Streams::one);
  Consumer consumer(budget);
  std::uint64_t window = consumer.take(1, 0ms).value();
  EXPECT_EQ(window, kCreditWindow + (kWindowBudgetBytes - kCreditWindow) / 2);
  for (int i = 0; i < 4; ++i) window = consumer.take(window / 2 + 1, 1ms).value();
  EXPECT_GT(window, kWindowBudgetBytes * 9 / 10);
}

TEST(ReceiveCredit, BeginsLargeWhereOneStreamIsAllAndMemoryIsThere) {
  SessionOptions one;
  one.one_stream = true;
  EXPECT_EQ(initial_window_bytes(one, kDefaultMemoryBytes), kSoleWindowBytes);
  EXPECT_EQ(initial_window_bytes(one, 4 * kMiB), kMiB);
  EXPECT_EQ(initial_window_bytes(one, kMinMemoryBytes), session::kInitialWindowBytes);
  EXPECT_EQ(initial_window_bytes({}, kDefaultMemoryBytes), session::kInitialWindowBytes);
}

TEST(ReceiveCredit, BeginsSmallWhereManyStreamsShareLittleMemory) {
  SessionOptions many;
  EXPECT_EQ(initial_window_bytes(many, 64 * kMiB), 64 * kKiB);
  EXPECT_EQ(initial_window_bytes(many, kMinMemoryBytes), kLeastWindowBytes);
  many.streams = 16;
  EXPECT_EQ(initial_window_bytes(many, kMinMemoryBytes), 64 * kKiB);
}

TEST(ReceiveCredit, StaysSmallOnAShortPath) {
  WindowBudget budget{kWindowBudgetBytes};
  ReceiveCredit credit(kCreditWindow, budget);
  ASSERT_TRUE(credit.on_received(1));
  std::ignore = credit.on_consumed(1, TimePoint{}, 1ms);
  EXPECT_EQ(credit.window_bytes(), 4 * kMiB);
}

/// Proves: stream.window-shares
TEST(ReceiveCredit, GrantsAgainAfterAnEighthOfAWindow) {
  WindowBudget budget(2 * kCreditWindow);
  Consumer consumer(budget);
  ASSERT_EQ(consumer.take(100, 0ms), 1250U) << "the first growth is a quarter of what is left";
  EXPECT_FALSE(consumer.take(155, 1s));
  EXPECT_EQ(consumer.take(1, 0ms), 1250U);
}

TEST(ReceiveCredit, DoublesTheWindowThatIsHalfConsumedWithinFourRoundTrips) {
  WindowBudget budget{kWindowBudgetBytes};
  Consumer consumer(budget);
  const std::uint64_t first = consumer.take(1, 0ms).value();
  EXPECT_EQ(consumer.take(first / 4, 99ms), first);
  EXPECT_EQ(consumer.take(first / 4 + 1, 299ms), 2 * first);
  EXPECT_EQ(consumer.take(first, 400ms), 2 * first) << "eight round trips are enough for repairs";
}

TEST(ReceiveCredit, LeavesEachStreamTheWindowItBeganWith) {
  WindowBudget budget(kCreditWindow);
  Consumer consumer(budget);
  EXPECT_EQ(consumer.take(1, 0ms), kCreditWindow);
  EXPECT_EQ(consumer.take(kCreditWindow / 2, 1ms), kCreditWindow);
}

/// Proves: stream.window-shares
TEST(ReceiveCredit, GrowsNoFurtherThanTheShareOfAStream) {
  WindowBudget budget(64 * kMiB);
  Consumer consumer(budget);
  std::uint64_t window = consumer.take(1, 0ms).value();
  for (int i = 0; i < 10; ++i) window = consumer.take(window / 2 + 1, 1ms).value();
  EXPECT_EQ(window, 48 * kMiB);
}

TEST(ReceiveCredit, SharesOneBudgetAndGivesItBack) {
  WindowBudget budget(4 * kMiB);
  Consumer patient(budget);
  {
    Consumer greedy(budget);
    std::uint64_t window = greedy.take(1, 0ms).value();
    for (int i = 0; i < 12; ++i) window = greedy.take(window / 2 + 1, 1ms).value();
    EXPECT_EQ(window + kCreditWindow, 3 * kMiB + kCreditWindow);
    EXPECT_LE(patient.take(1, 0ms), kMiB);
  }
  EXPECT_GT(budget.left_bytes(), 2 * kMiB) << "the other stream gave its window back";
}

}  // namespace
}  // namespace udtcat::connection
