// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/socket_acceptor.hpp"

#include "lib/bridge/few_descriptors.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::bridge {
namespace {

struct SocketAcceptorTest : ::testing::Test {
  std::unique_ptr<TcpAcceptor> start() {
    return std::make_unique<TcpAcceptor>(
        bind_tcp(io, loopback_v4(), GracefulClose::always).value(), [this](tcp::socket) { ++accepted; },
        [this](const Endpoint&, std::error_code error) { shortage = error; });
  }
  boost::asio::io_context io;
  int accepted = 0;
  std::optional<std::error_code> shortage;
};

TEST_F(SocketAcceptorTest, AcceptsAll) {
  const auto acceptor = start();
  std::vector<tcp::socket> clients;
  for (int i = 0; i < 20; ++i) clients.emplace_back(io).connect(to_asio(acceptor->local_endpoint()));
  EXPECT_TRUE(run_until(io, [&] { return accepted == 20; }));
}

TEST_F(SocketAcceptorTest, AcceptsConnectionsThatCloseAsAReset) {
  bool dropped = false;
  const TcpAcceptor acceptor(
      bind_tcp(io, loopback_v4(), GracefulClose::receipted).value(), [&](const tcp::socket&) { dropped = true; },
      [](const Endpoint&, std::error_code) {});
  tcp::socket client(io);
  client.connect(to_asio(acceptor.local_endpoint()));
  ASSERT_TRUE(run_until(io, [&] { return dropped; }));
  char none = 0;
  boost::system::error_code error;
  client.read_some(boost::asio::buffer(&none, 1), error);
  EXPECT_EQ(error, boost::asio::error::connection_reset);
}

TEST_F(SocketAcceptorTest, PausesWhenDescriptorsRunOutAndGoesOn) {
  const auto acceptor = start();
  tcp::socket client(io);
  client.connect(to_asio(acceptor->local_endpoint()));
  {
    const FewDescriptors shortage_now;
    ASSERT_TRUE(run_until(io, [&] { return shortage.has_value(); }));
  }
  EXPECT_EQ(*shortage, std::errc::too_many_files_open);
  EXPECT_EQ(accepted, 0);
  EXPECT_TRUE(run_until(io, [&] { return accepted == 1; }));
}

TEST_F(SocketAcceptorTest, CallsNoHandlerAfterDestruction) {
  auto acceptor = start();
  tcp::socket client(io);
  client.connect(to_asio(acceptor->local_endpoint()));
  acceptor.reset();
  run_ready(io);
  EXPECT_EQ(accepted, 0);
}

TEST_F(SocketAcceptorTest, LeavesClientsInTheBacklogWhilePaused) {
  const auto acceptor = start();
  acceptor->pause();
  std::vector<tcp::socket> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(io).connect(to_asio(acceptor->local_endpoint()));
  run_ready(io);
  EXPECT_LE(accepted, 1) << "one may have been on its way";
  acceptor->resume();
  EXPECT_TRUE(run_until(io, [&] { return accepted == 5; }));
}

}  // namespace
}  // namespace udtcat::bridge
