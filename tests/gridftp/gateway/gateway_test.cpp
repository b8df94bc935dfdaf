#include "gridftp/gateway/gateway.hpp"

#include <gmock/gmock.h>

#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::gridftp {
namespace {

using bridge::bytes_of;
using bridge::FakeConnection;
using bridge::run_until;
using bridge::tcp;

void ignore_trouble(const Endpoint&, const Error&) {}

struct GatewayTest : ::testing::Test {
  boost::asio::io_context io;
  FakeConnection connection{bridge::loopback_v4()};
};

TEST_F(GatewayTest, BesideClientsTakesEachOfThemAndTheStreamsOfTheOtherEnd) {
  const auto gateway =
      make_near_gateway(io, connection, {bridge::loopback_v6(), bridge::loopback_v4()}, ignore_trouble).value();
  ASSERT_EQ(gateway->local_endpoints().size(), 1U) << "PORT and PASV know IPv4 only";
  tcp::socket client(io);
  client.connect(bridge::to_asio(gateway->local_endpoints().front()));
  ASSERT_TRUE(run_until(io, [&] { return connection.opened.size() == 1; }));
  connection.peer_opens(io, 1);
  EXPECT_TRUE(run_until(io, [&] { return connection.accepted.contains(1); }));
}

TEST_F(GatewayTest, BesideAServerServesTheStreamsOfManyConnections) {
  tcp::acceptor server(io, bridge::loopback());
  const auto gateway =
      make_far_gateway(io, {bridge::loopback_v6(), bridge::from_asio(server.local_endpoint())}, "ftp", ignore_trouble)
          .value();
  FakeConnection other(bridge::loopback_v4());
  for (FakeConnection* each : {&connection, &other}) {
    gateway->serve(*each);
    each->peer_opens(io, 0);
    ASSERT_TRUE(run_until(io, [&] { return each->accepted.contains(0); }));
    EXPECT_FALSE(bridge::write_all(io, *each->accepted[0].local, bytes_of("udtcat-gridftp 1 control\n")));
    bool served = false;
    server.async_accept([&](boost::system::error_code error, const tcp::socket&) { served = !error; });
    EXPECT_TRUE(run_until(io, [&] { return served; }));
  }
}

TEST_F(GatewayTest, NeedsIpv4) {
  EXPECT_EQ(make_near_gateway(io, connection, {bridge::loopback_v6()}, ignore_trouble).error().code,
            Errc::bad_argument);
  EXPECT_EQ(make_far_gateway(io, {bridge::loopback_v6()}, "ftp:2811", ignore_trouble).error().message(),
            "find ftp:2811: a gridftp gateway needs an IPv4 address of its server");
}

TEST_F(GatewayTest, SaysWhereItCannotListen) {
  const tcp::acceptor taken(io, bridge::loopback());
  const auto refused = make_near_gateway(io, connection, {bridge::from_asio(taken.local_endpoint())}, ignore_trouble);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::cannot_bind);
}

}  // namespace
}  // namespace udtcat::gridftp
