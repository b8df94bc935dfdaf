// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/tcp_liveness.hpp"

#include <array>
#include <string>

#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::bridge {
namespace {

using std::chrono::milliseconds;

struct AckWatchTest : ::testing::Test {
  void make_watch(milliseconds interval) {
    watch.emplace(
        ours, [this] { lost = true; }, interval);
  }
  /// The other host is gone: what comes for this socket is dropped before the system sees it.
  void take_the_other_host_away() {
    sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    const sock_fprog filter{.len = 1, .filter = &drop};
    ASSERT_EQ(::setsockopt(pair.theirs.native_handle(), SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter), 0);
  }
  void send(std::size_t bytes) {
    boost::system::error_code error;
    ours.non_blocking(true);
    const std::string all(bytes, 'x');
    EXPECT_GT(ours.send(boost::asio::buffer(all), 0, error), 0U);
    watch->sent();
  }
  boost::asio::io_context io;
  TcpPair pair{io};
  StreamSocket ours{std::move(pair.ours)};
  std::optional<AckWatch> watch;
  bool lost = false;
};

TEST_F(AckWatchTest, NoticesThatNothingIsAcknowledged) {
  make_watch(milliseconds(200));
  take_the_other_host_away();
  send(1);
  EXPECT_TRUE(run_until(io, [this] { return lost; }));
}

TEST_F(AckWatchTest, WaitsForAReaderThatPauses) {
  make_watch(milliseconds(50));
  send(50'000'000);  // more than both systems hold
  test::run_for(io, milliseconds(1'500));
  EXPECT_FALSE(lost);
}

TEST_F(AckWatchTest, StopsLookingWhenAllIsAcknowledged) {
  make_watch(milliseconds(1));
  send(1);
  EXPECT_TRUE(run_until(io, [this] { return io.stopped(); })) << "no timer is left";
  EXPECT_FALSE(lost);
}

TEST_F(AckWatchTest, HasTheSystemAskWithinAMinute) {
  keep_alive(ours);
  int seconds = 0;
  int sum = 0;
  socklen_t length = sizeof seconds;
  ASSERT_EQ(::getsockopt(ours.native_handle(), IPPROTO_TCP, TCP_KEEPIDLE, &seconds, &length), 0);
  sum += seconds;
  int probes = 0;
  ASSERT_EQ(::getsockopt(ours.native_handle(), IPPROTO_TCP, TCP_KEEPINTVL, &seconds, &length), 0);
  ASSERT_EQ(::getsockopt(ours.native_handle(), IPPROTO_TCP, TCP_KEEPCNT, &probes, &length), 0);
  EXPECT_EQ(sum + probes * seconds, 60);
}

}  // namespace
}  // namespace udtcat::bridge
