// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/tcp_acceptor.hpp"

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::bridge {
namespace {

struct TcpPortsTest : ::testing::Test {
  boost::asio::io_context io;
};

TEST_F(TcpPortsTest, SayWhyAPortCannotBeBound) {
  const auto bound = bind_tcp(io, loopback_v4(), GracefulClose::always).value();
  EXPECT_EQ(bind_tcp(io, bound.local, GracefulClose::always).error(), std::errc::address_in_use);
}

TEST_F(TcpPortsTest, HaveOneFamilyEach) {
  const auto bound = bind_tcp(io, loopback_v4(), GracefulClose::always).value();
  const auto v6 = loopback_v6().with_port(bound.local.port());
  EXPECT_TRUE(bind_tcp(io, v6, GracefulClose::always));
}

TEST_F(TcpPortsTest, ShareAPortThatTheSystemChooses) {
  int accepted = 0;
  auto ports = TcpPorts::bind(io, {loopback_v4(), loopback_v6()}, GracefulClose::always).value();
  ports.accept([&](tcp::socket) { ++accepted; }, [](const Endpoint&, const Error&) {});
  const auto locals = ports.local_endpoints();
  ASSERT_EQ(locals.size(), 2U);
  EXPECT_EQ(locals[0].port(), locals[1].port());
  tcp::socket v4(io);
  tcp::socket v6(io);
  v4.connect(to_asio(locals[0]));
  v6.connect(to_asio(locals[1]));
  EXPECT_TRUE(run_until(io, [&] { return accepted == 2; }));
}

TEST_F(TcpPortsTest, PassOverAnAddressThatTheHostDoesNotHave) {
  const Endpoint elsewhere = from_asio(tcp::endpoint(boost::asio::ip::make_address("2001:db8::1"), 0));
  EXPECT_TRUE(TcpPorts::bind(io, {elsewhere, loopback_v4()}, GracefulClose::always));
  EXPECT_TRUE(TcpPorts::bind(io, {loopback_v4(), elsewhere}, GracefulClose::always));
  EXPECT_FALSE(TcpPorts::bind(io, {elsewhere}, GracefulClose::always)) << "there is none at all";
}

TEST_F(TcpPortsTest, IgnoreASecondLoopbackThatIsTaken) {
  const auto taken = bind_tcp(io, loopback_v6(), GracefulClose::always).value();
  const auto port = taken.local.port();
  auto ports =
      TcpPorts::bind(io, {loopback_v4().with_port(port), loopback_v6().with_port(port)}, GracefulClose::always);
  ASSERT_TRUE(ports);
  ports->accept([](tcp::socket) {}, [](const Endpoint&, const Error&) {});
  EXPECT_EQ(ports->local_endpoints(), std::vector{loopback_v4().with_port(port)});
}

TEST_F(TcpPortsTest, FailWithoutTheFirst) {
  const auto taken = bind_tcp(io, loopback_v4(), GracefulClose::always).value();
  const auto port = taken.local.port();
  EXPECT_FALSE(
      TcpPorts::bind(io, {loopback_v4().with_port(port), loopback_v6().with_port(port)}, GracefulClose::always));
}

}  // namespace
}  // namespace udtcat::bridge
