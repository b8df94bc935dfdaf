// SPDX-License-Identifier: Apache-2.0
#include "lib/net/event_loop.hpp"

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>

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

TEST(EventLoop, IsPreparedWithAndWithoutSignals) {
  boost::asio::io_context without;
  EXPECT_TRUE(prepare_event_loop(without, LoopSignals::none));
  boost::asio::io_context with;
  EXPECT_TRUE(prepare_event_loop(with, LoopSignals::taken));
}

TEST(EventLoop, SaysThatItsDescriptorsAreNotWatched) {
  for (const int error : {ENOSPC, ENOMEM, EPERM})
    with_failing(SYS_epoll_ctl, error, [] {
      boost::asio::io_context io;
      const Status prepared = prepare_event_loop(io, LoopSignals::none);
      ASSERT_FALSE(prepared);
      EXPECT_EQ(prepared.error().code, Errc::out_of_resources);
    });
}

TEST(EventLoop, SaysThatThereAreNoDescriptors) {
  with_failing(SYS_epoll_create1, EMFILE, [] {
    boost::asio::io_context io;
    const Status prepared = prepare_event_loop(io, LoopSignals::none);
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().message(), "make an event loop: too many open files");
  });
}

}  // namespace
}  // namespace udtcat::net
