// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/disk_threads.hpp"

#include <future>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

class DiskThreadsTest : public testing::Test {
 protected:
  /// A call that lasts until the test says so.
  Outcome<int> begin_slow_call(int gives = 0) {
    return begin(io, [](boost::asio::io_context& loop, std::shared_future<void> until, int value) -> Task<int> {
      co_return co_await on_disk(loop, [&] {
        until.wait();
        return value;
      });
    }(io, may_end.future, gives));
  }

  /// A promise whose future any number of calls may wait for.
  struct Gate {
    std::promise<void> promise;
    std::shared_future<void> future = promise.get_future().share();
    void open() { promise.set_value(); }
  };

  Gate may_end;
  boost::asio::io_context io;
};

TEST_F(DiskThreadsTest, RunCallsElsewhereAndGoOnHere) {
  const auto here = std::this_thread::get_id();
  const auto [called, resumed] =
      run(io, [](boost::asio::io_context& loop) -> Task<std::pair<std::thread::id, std::thread::id>> {
        const auto there = co_await on_disk(loop, [] { return std::this_thread::get_id(); });
        co_return std::pair(there, std::this_thread::get_id());
      }(io));
  EXPECT_NE(called, here);
  EXPECT_EQ(resumed, here);
}

TEST_F(DiskThreadsTest, LeaveTheLoopFreeWhileACallWaits) {
  const auto slow = begin_slow_call(7);
  const auto other = begin_slow_call(8);
  bool ran = false;
  boost::asio::post(io, [&] { ran = true; });
  EXPECT_TRUE(run_until(io, [&] { return ran; }));
  EXPECT_FALSE(slow->has_value() || other->has_value());
  may_end.open();
  EXPECT_EQ(await(io, slow), 7);
  EXPECT_EQ(await(io, other), 8);
}

TEST_F(DiskThreadsTest, KeepAsManyCallsAsTheyPromiseAndLetTheOthersWait) {
  std::vector<Outcome<int>> calls;
  for (std::size_t i = 0; i < DiskThreads::kMaxCalls; ++i) calls.push_back(begin_slow_call());
  run_ready(io);
  const auto room = begin(io, [](boost::asio::io_context& loop) -> Task<bool> {
    co_await DiskThreads::of(loop).room();
    co_return true;
  }(io));
  run_ready(io);
  EXPECT_FALSE(room->has_value());
  calls.push_back(begin_slow_call());
  may_end.open();
  for (const auto& each : calls) EXPECT_EQ(await(io, each), 0);
  EXPECT_TRUE(await(io, room));
}

TEST_F(DiskThreadsTest, TryAgainOnlyAsLongAsSomebodyWantsTheFile) {
  for (const int wanted_times : {0, 1}) {
    int tries = 0;
    int times = wanted_times;
    const auto got = run(io, on_disk_in_turn(
                                 io,
                                 [&]() -> Status {
                                   ++tries;
                                   return fail(Errc::out_of_resources, "write x", "another transfer is writing it");
                                 },
                                 [&] { return times-- > 0; }));
    EXPECT_FALSE(got);
    EXPECT_EQ(tries, 1 + wanted_times);
  }
}

TEST_F(DiskThreadsTest, CanBeDestroyedWithCallsUnderWayAndWaiting) {
  for (std::size_t i = 0; i < 2 * DiskThreads::kThreads; ++i) begin_slow_call();
  run_ready(io);
  may_end.open();
}

}  // namespace
}  // namespace udtcat::gridftp
