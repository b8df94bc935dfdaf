// SPDX-License-Identifier: Apache-2.0
#include "trees/bounded_queue.hpp"

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

TEST(BoundedQueues, KeepTheOrderAndTheBound) {
  BoundedQueue<int> numbers(2);
  std::atomic<int> pushed{0};
  std::thread pushing([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(numbers.push(i));
      ++pushed;
    }
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(pushed, i + 2);
    EXPECT_EQ(numbers.pop(), i);
  }
  pushing.join();
  EXPECT_TRUE(numbers.empty());
}

TEST(BoundedQueues, AreFullOnceTheirItemsHaveTheWeight) {
  BoundedQueue<std::string> words(4, [](const std::string& word) { return word.size(); });
  EXPECT_TRUE(words.try_push("abc"));
  EXPECT_TRUE(words.try_push("defgh")) << "the last one may be larger than what is left";
  EXPECT_FALSE(words.try_push("i"));
  EXPECT_EQ(words.try_pop(), "abc");
  EXPECT_FALSE(words.try_push("i"));
  EXPECT_EQ(words.try_pop(), "defgh");
  EXPECT_TRUE(words.try_push("i"));
  EXPECT_EQ(words.try_pop(), "i");
  EXPECT_EQ(words.try_pop(), std::nullopt);
}

TEST(BoundedQueues, AreIdleOnceTheirConsumerComesForMore) {
  BoundedQueue<int> numbers(2);
  EXPECT_TRUE(numbers.idle());
  EXPECT_TRUE(numbers.push(1));
  EXPECT_FALSE(numbers.idle());
  EXPECT_EQ(numbers.pop(), 1);
  EXPECT_TRUE(numbers.empty());
  EXPECT_FALSE(numbers.idle()) << "the consumer is at work on it";
  auto more = std::async(std::launch::async, [&] { return numbers.pop(); });
  numbers.wait_until_idle();
  numbers.close();
  EXPECT_FALSE(more.get());
}

TEST(BoundedQueues, GiveWhatIsLeftAndThenTheErrorOnceClosed) {
  BoundedQueue<int> numbers(1);
  EXPECT_TRUE(numbers.push(1));
  auto waiting = std::async(std::launch::async, [&] { return numbers.push(2); });
  numbers.close({Errc::interrupted, "count", ""});
  numbers.close({Errc::peer_lost, "count", ""});
  EXPECT_FALSE(waiting.get());
  EXPECT_FALSE(numbers.push(3));
  numbers.wait_until_idle();
  EXPECT_EQ(numbers.pop(), 1);
  EXPECT_EQ(numbers.pop().error().code, Errc::interrupted) << "the first error counts";
}

TEST(BoundedQueues, DropWhatIsLeftWhenClosedNow) {
  BoundedQueue<int> numbers(2);
  EXPECT_TRUE(numbers.push(1));
  auto waiting = std::async(std::launch::async, [&] { numbers.wait_closed(std::chrono::hours(1)); });
  numbers.close_now({Errc::interrupted, "count", ""});
  waiting.get();
  EXPECT_EQ(numbers.pop().error().code, Errc::interrupted);
}

TEST(BoundedQueues, WaitToBeClosedForATimeAtMost) {
  BoundedQueue<int> numbers(1);
  numbers.wait_closed(std::chrono::milliseconds(1));
  EXPECT_FALSE(numbers.is_closed());
}

}  // namespace
}  // namespace udtcat::trees
