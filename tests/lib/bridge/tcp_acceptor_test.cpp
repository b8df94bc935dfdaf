#include "lib/bridge/tcp_acceptor.hpp"

#include "lib/bridge/few_descriptors.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::bridge {
namespace {

struct TcpAcceptorTest : ::testing::Test {
  std::unique_ptr<TcpAcceptor> start() {
    return std::make_unique<TcpAcceptor>(
        TcpAcceptor::bind(io, loopback_v4(), TcpEnd::always).value(), [this](tcp::socket) { ++accepted; },
        [this](const Endpoint&, std::error_code error) { shortage = error; });
  }
  boost::asio::io_context io;
  int accepted = 0;
  std::optional<std::error_code> shortage;
};

TEST_F(TcpAcceptorTest, AcceptsAll) {
  const auto acceptor = start();
  std::vector<tcp::socket> clients;
  for (int i = 0; i < 20; ++i) clients.emplace_back(io).connect(to_asio(acceptor->local_endpoint()));
  EXPECT_TRUE(run_until(io, [&] { return accepted == 20; }));
}

TEST_F(TcpAcceptorTest, SaysWhyAPortIsNotItsToUse) {
  const auto acceptor = start();
  EXPECT_EQ(TcpAcceptor::bind(io, acceptor->local_endpoint(), TcpEnd::always).error(), std::errc::address_in_use);
}

TEST_F(TcpAcceptorTest, HasOneFamilyForItself) {
  const auto acceptor = TcpAcceptor::bind(io, loopback_v4(), TcpEnd::always).value();
  const auto v6 = loopback_v6().with_port(acceptor.local_endpoint().port());
  EXPECT_TRUE(TcpAcceptor::bind(io, v6, TcpEnd::always));
}

TEST_F(TcpAcceptorTest, GivesConnectionsThatEndAsAResetFromBirth) {
  bool dropped = false;
  const TcpAcceptor acceptor(
      TcpAcceptor::bind(io, loopback_v4(), TcpEnd::receipted).value(), [&](const tcp::socket&) { dropped = true; },
      [](const Endpoint&, std::error_code) {});
  tcp::socket client(io);
  client.connect(to_asio(acceptor.local_endpoint()));
  ASSERT_TRUE(run_until(io, [&] { return dropped; }));
  char none = 0;
  boost::system::error_code error;
  client.read_some(boost::asio::buffer(&none, 1), error);
  EXPECT_EQ(error, boost::asio::error::connection_reset);
}

TEST_F(TcpAcceptorTest, PausesWhenDescriptorsRunOutAndGoesOn) {
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

TEST_F(TcpAcceptorTest, CallsNobodyOnceDestroyed) {
  auto acceptor = start();
  tcp::socket client(io);
  client.connect(to_asio(acceptor->local_endpoint()));
  acceptor.reset();
  run_ready(io);
  EXPECT_EQ(accepted, 0);
}

TEST_F(TcpAcceptorTest, IsOneOfManyThatShareAPortDrawn) {
  auto ports = TcpPorts::bind(io, {loopback_v4(), loopback_v6()}, TcpEnd::always).value();
  ports.accept([this](tcp::socket) { ++accepted; }, [](const Endpoint&, const Error&) {});
  const auto locals = ports.local_endpoints();
  ASSERT_EQ(locals.size(), 2U);
  EXPECT_EQ(locals[0].port(), locals[1].port());
  tcp::socket v4(io);
  tcp::socket v6(io);
  v4.connect(to_asio(locals[0]));
  v6.connect(to_asio(locals[1]));
  EXPECT_TRUE(run_until(io, [this] { return accepted == 2; }));
}

}  // namespace
}  // namespace udtcat::bridge
