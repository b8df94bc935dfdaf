// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/reset.hpp"

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::bridge {
namespace {

TEST(Reset, IsSeenByTheOtherSideAsAReset) {
  boost::asio::io_context io;
  TcpPair pair{io};
  reset(pair.ours);
  EXPECT_EQ(read_error(pair.theirs), boost::asio::error::connection_reset);
}

}  // namespace
}  // namespace udtcat::bridge
