// SPDX-License-Identifier: Apache-2.0
#include "lib/net/event_loop.hpp"

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>
#include <boost/system/system_error.hpp>

#include "support/failing_calls.hpp"

namespace udtcat::net {
namespace {

/// On a thread of its own, as calls go on to fail on it.
template <typename Check>
void with_failing(int call, int error, Check check) {
  std::thread([&] {
    test::fail_calls({call}, error);
    check();
  }).join();
}

TEST(EventLoop, BeginsMoreThanOnce) {
  boost::asio::io_context io;
  EXPECT_TRUE(begin_event_loop(io, LoopSignals::ignored));
  EXPECT_TRUE(begin_event_loop(io, LoopSignals::ignored)) << "it has its descriptors";
  boost::asio::io_context another;
  EXPECT_TRUE(begin_event_loop(another, LoopSignals::taken));
}

TEST(EventLoop, SaysThatItsDescriptorsAreNotWatched) {
  for (const int error : {ENOSPC, ENOMEM, EPERM})
    with_failing(SYS_epoll_ctl, error, [] {
      boost::asio::io_context io;
      const Status begun = begin_event_loop(io, LoopSignals::ignored);
      ASSERT_FALSE(begun);
      EXPECT_EQ(begun.error().code, Errc::out_of_resources);
    });
}

TEST(EventLoop, ThrowsAsAsioDoesWhereThereAreNoDescriptors) {
  with_failing(SYS_epoll_create1, EMFILE, [] {
    boost::asio::io_context io;
    EXPECT_THROW(std::ignore = begin_event_loop(io, LoopSignals::ignored), boost::system::system_error);
  });
}

}  // namespace
}  // namespace udtcat::net
