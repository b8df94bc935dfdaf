// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/socket_wait.hpp"

#include <array>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/run_until.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

/// Two sockets of which the first is waited for.
class SocketWaitTest : public testing::Test {
 protected:
  SocketWaitTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, sockets.data()), 0); }
  ~SocketWaitTest() override {
    wait.stop_watching();
    for (const int each : sockets) ::close(each);
  }
  void send() const { EXPECT_EQ(::send(sockets[1], "x", 1, 0), 1); }
  void until(SocketWait::Readiness readiness) { wait.until(readiness, sockets[0], 1s); }

  boost::asio::io_context io;
  std::array<int, 2> sockets{};
  int ready = 0;
  SocketWait wait{io, [this] { ++ready; }};
};

TEST_F(SocketWaitTest, EndsOnceTheSocketIsReadable) {
  until(SocketWait::Readiness::wait_read);
  udtcat::test::run_ready(io);
  EXPECT_EQ(ready, 0);
  send();
  EXPECT_TRUE(udtcat::test::run_until(io, [this] { return ready == 1; }));
  until(SocketWait::Readiness::wait_read);
  EXPECT_TRUE(udtcat::test::run_until(io, [this] { return ready == 2; }))
      << "what was not read makes it readable again";
}

TEST_F(SocketWaitTest, EndsOnceTheSocketIsWritable) {
  until(SocketWait::Readiness::wait_write);
  EXPECT_TRUE(udtcat::test::run_until(io, [this] { return ready == 1; }));
}

TEST_F(SocketWaitTest, LastsForAWhileWhateverComes) {
  until(SocketWait::Readiness::wait_read);
  const auto begin = std::chrono::steady_clock::now();
  wait.after(50ms);
  EXPECT_FALSE(wait.is_watching());
  send();
  EXPECT_TRUE(udtcat::test::run_until(io, [this] { return ready == 1; }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
}

TEST_F(SocketWaitTest, EndsAfterAWhileWhereTheSystemCannotWatch) {
  wait.until(SocketWait::Readiness::wait_read, -1, 1ms);
  EXPECT_TRUE(udtcat::test::run_until(io, [this] { return ready == 1; }));
}

}  // namespace
}  // namespace udtcat::transport::native
