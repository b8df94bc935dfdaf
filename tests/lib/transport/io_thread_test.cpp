// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/io_thread.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

#include <pthread.h>

#include <gtest/gtest.h>

#include "support/run_until.hpp"

namespace udtcat::transport {
namespace {

class IoThreadTest : public testing::Test {
 protected:
  boost::asio::io_context io{1};
  std::unique_ptr<IoThread> thread = IoThread::start(io).value();
};

TEST_F(IoThreadTest, RunsWhatIsPostedInOrderOnAThreadOfThatName) {
  std::vector<int> ran;
  std::thread::id where;
  std::array<char, 16> name{};
  for (int i = 0; i < 1000; ++i) thread->post([&ran, i] { ran.push_back(i); });
  thread->call([&] {
    where = std::this_thread::get_id();
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  });
  std::vector<int> all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(ran, all);
  EXPECT_NE(where, std::this_thread::get_id());
  EXPECT_STREQ(name.data(), "packets");
}

TEST_F(IoThreadTest, PostsBackInOrderToItsOwnersThread) {
  std::vector<int> ran;
  std::thread::id where;
  thread->post([&] {
    for (int i = 0; i < 100; ++i)
      thread->post_back([&ran, &where, i] {
        ran.push_back(i);
        where = std::this_thread::get_id();
      });
  });
  ASSERT_TRUE(test::run_until(io, [&] { return ran.size() == 100; }));
  EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST_F(IoThreadTest, GathersWhatIsPostedWhileItsOwnerIsBusy) {
  int ran = 0;
  thread->call([&] {
    for (int i = 0; i < 100; ++i) thread->post_back([&ran] { ++ran; });
  });
  EXPECT_EQ(io.poll_one(), 1U);  // one wake-up for all
  EXPECT_EQ(ran, 100);
}

TEST_F(IoThreadTest, RunsWhatWasPostedBeforeItEndsAndNothingLater) {
  int ran = 0;
  for (int i = 0; i < 100; ++i) thread->post([&ran] { ++ran; });
  thread->stop();
  thread->post([&ran] { ran = -1; });
  thread->join();
  EXPECT_EQ(ran, 100);
}

TEST_F(IoThreadTest, LeavesWhatItPostedBackToItsOwnerWhenItEnds) {
  int ran = 0;
  thread->post([&ran, itself = thread.get()] { itself->post_back([&ran] { ++ran; }); });
  thread.reset();
  EXPECT_EQ(ran, 0);
  test::run_ready(io);
  EXPECT_EQ(ran, 1);
}

TEST(IoThreads, ChooseTheOneWithTheFewestConnections) {
  boost::asio::io_context io{1};
  IoThreads threads(io, 2);
  const std::size_t owner = threads.limit();
  EXPECT_EQ(threads.least_busy(0, 2), owner);
  EXPECT_EQ(threads.least_busy(1, 0), owner);
  EXPECT_EQ(threads.least_busy(1, 1), 0U);
  ASSERT_TRUE(threads.at(0));
  threads.add_connection(0);
  EXPECT_EQ(threads.least_busy(1, 2), 1U);
  ASSERT_TRUE(threads.at(1));
  threads.add_connection(1);
  EXPECT_EQ(threads.least_busy(1, 2), 0U);
  threads.add_connection(0);
  threads.add_connection(1);
  EXPECT_EQ(threads.least_busy(1, 2), owner);
  threads.remove_connection(1);
  EXPECT_EQ(threads.least_busy(2, 2), 1U);
}

TEST(IoThreads, StartOnceEach) {
  boost::asio::io_context io{1};
  IoThreads threads(io, 1);
  IoThread* const first = threads.at(0).value();
  EXPECT_EQ(threads.at(0).value(), first);
  threads.stop();
}

}  // namespace
}  // namespace udtcat::transport
