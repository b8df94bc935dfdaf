// SPDX-License-Identifier: Apache-2.0
#include "lib/net/event_loop.hpp"

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/system/system_error.hpp>

#include "support/failing_calls.hpp"

namespace udtcat::net {
namespace {

/// Of a new loop, on a thread where `call` fails.
Status check_where(int call, int error) {
  Status checked;
  std::thread([&] {
    test::fail_calls({call}, error);
    boost::asio::io_context io;
    const auto work = boost::asio::make_work_guard(io);
    checked = check_timers(io);
  }).join();
  return checked;
}

TEST(EventLoop, HasTimersThatEnd) {
  boost::asio::io_context io;
  const auto work = boost::asio::make_work_guard(io);
  EXPECT_TRUE(check_timers(io));
  EXPECT_FALSE(io.stopped());
}

TEST(EventLoop, SaysThatItsTimersAreNotWatched) {
  for (const int error : {ENOSPC, ENOMEM, EPERM})
    EXPECT_EQ(check_where(SYS_epoll_ctl, error).error().code, Errc::out_of_resources) << error;
}

TEST(EventLoop, ThrowsAsAsioDoesWhereThereAreNoDescriptors) {
  std::thread([] {
    test::fail_calls({SYS_epoll_create1}, EMFILE);
    boost::asio::io_context io;
    EXPECT_THROW(std::ignore = check_timers(io), boost::system::system_error);
  }).join();
}

}  // namespace
}  // namespace udtcat::net
