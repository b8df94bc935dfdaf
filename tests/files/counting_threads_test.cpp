// SPDX-License-Identifier: Apache-2.0
#include "files/counting_threads.hpp"

#include <chrono>
#include <future>
#include <vector>

#include <gmock/gmock.h>

namespace udtcat::files {
namespace {

TEST(CountingThreadsTest, AreSoManyAtMost) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> done{0};
  CountingThreads threads;
  std::vector<std::promise<void>> begins(CountingThreads::kThreads);
  for (std::size_t i = 0; i < 3 * CountingThreads::kThreads; ++i)
    ASSERT_TRUE(threads.give([&](const std::atomic<bool>&) {
      const std::size_t number = begun++;
      if (number < begins.size()) begins[number].set_value();
      ended.wait();
      ++done;
    }));
  for (auto& each : begins) each.get_future().wait();
  EXPECT_EQ(begun, CountingThreads::kThreads);
  end.set_value();
  std::promise<void> last;
  ASSERT_TRUE(threads.give([&](const std::atomic<bool>&) { last.set_value(); }));
  last.get_future().wait();
  EXPECT_GT(done, 2 * CountingThreads::kThreads);
}

TEST(CountingThreadsTest, DropWhatHasNotBegunAtTheirEnd) {
  std::atomic<std::size_t> begun{0};
  {
    CountingThreads threads;
    std::promise<void> under_way;
    for (std::size_t i = 0; i < 3 * CountingThreads::kThreads; ++i)
      ASSERT_TRUE(threads.give([&](const std::atomic<bool>& is_over) {
        if (++begun == CountingThreads::kThreads) under_way.set_value();
        while (!is_over) std::this_thread::yield();
      }));
    under_way.get_future().wait();
  }
  EXPECT_EQ(begun, CountingThreads::kThreads);
}

}  // namespace
}  // namespace udtcat::files
