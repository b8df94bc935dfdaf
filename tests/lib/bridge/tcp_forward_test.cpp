#include <udtcat/bridges.hpp>

#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/few_descriptors.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::bridge {
namespace {

struct TcpForwardTest : ::testing::Test {
  Result<std::unique_ptr<TcpForward>> make(const std::vector<Endpoint>& locals) {
    return make_tcp_forward(io, connection, locals, [this](const Endpoint& client, const Error& error) {
      last_client = client;
      trouble.push_back(error);
    });
  }
  tcp::socket client_of(const TcpForward& forward, std::size_t index = 0) {
    tcp::socket client(io);
    client.connect(to_asio(forward.local_endpoints().at(index)));
    return client;
  }
  boost::asio::io_context io;
  FakeConnection connection{loopback_v4()};
  std::vector<Error> trouble;
  Endpoint last_client;
};

TEST_F(TcpForwardTest, MakesEachClientAStream) {
  const auto forward = make({loopback_v4()}).value();
  const tcp::socket client = client_of(*forward);
  const tcp::socket other = client_of(*forward);
  ASSERT_TRUE(run_until(io, [&] { return connection.opened.size() == 2; }));
  EXPECT_EQ(connection.opened[0].local->source_name(), "tcp " + from_asio(client.local_endpoint()).to_string());
}

TEST_F(TcpForwardTest, HasOnePortInBothFamilies) {
  const auto forward = make({loopback_v4(), loopback_v6()}).value();
  const auto locals = forward->local_endpoints();
  ASSERT_EQ(locals.size(), 2U);
  EXPECT_EQ(locals[0].port(), locals[1].port());
  EXPECT_NE(locals[0].port(), 0);
  const tcp::socket v4 = client_of(*forward, 0);
  const tcp::socket v6 = client_of(*forward, 1);
  EXPECT_TRUE(run_until(io, [&] { return connection.opened.size() == 2; }));
}

TEST_F(TcpForwardTest, SaysWhichPortIsTaken) {
  const auto forward = make({loopback_v4()}).value();
  const Endpoint taken = forward->local_endpoints().at(0);
  const auto second = make({taken});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::cannot_bind);
  EXPECT_EQ(second.error().message(), "bind tcp " + taken.to_string() + ": address already in use");
}

TEST_F(TcpForwardTest, ResetsTheClientOfAStreamThatIsAborted) {
  const auto forward = make({loopback_v4()}).value();
  tcp::socket client = client_of(*forward);
  ASSERT_TRUE(run_until(io, [&] { return connection.opened.size() == 1; }));
  connection.opened[0].local->abort();
  EXPECT_EQ(read_error(client), boost::asio::error::connection_reset);
}

TEST_F(TcpForwardTest, TellsOfAServiceThatIsDownOnce) {
  const auto forward = make({loopback_v4()}).value();
  const tcp::socket client = client_of(*forward);
  ASSERT_TRUE(run_until(io, [&] { return connection.opened.size() == 1; }));
  const StreamOutcome down{.error = Error{Errc::remote_connect_failed, "connect tcp db:5432", "connection refused"}};
  connection.opened[0].done(down);
  connection.opened[0].done(down);
  connection.opened[0].done({.error = Error{Errc::remote_read_failed, "reading", "connection reset"}});
  EXPECT_EQ(trouble.size(), 1U);
  EXPECT_EQ(last_client, from_asio(client.local_endpoint()));
}

TEST_F(TcpForwardTest, TellsOfAShortageOfDescriptorsAndGoesOn) {
  const auto forward = make({loopback_v4()}).value();
  const tcp::socket client = client_of(*forward);
  {
    const FewDescriptors shortage;
    ASSERT_TRUE(run_until(io, [&] { return !trouble.empty(); }));
  }
  EXPECT_EQ(trouble[0].code, Errc::out_of_resources);
  EXPECT_TRUE(run_until(io, [&] { return connection.opened.size() == 1; }));
}

TEST_F(TcpForwardTest, DoesNothingOnceDestroyed) {
  auto forward = make({loopback_v4()}).value();
  const tcp::socket client = client_of(*forward);
  const tcp::socket waiting = client_of(*forward);
  ASSERT_TRUE(run_until(io, [&] { return connection.opened.size() == 1; }));
  forward.reset();
  connection.opened[0].done({.error = Error{Errc::remote_connect_failed, "connect", "refused"}});
  run_ready(io);
  EXPECT_EQ(connection.opened.size(), 1U);
  EXPECT_TRUE(trouble.empty());
}

}  // namespace
}  // namespace udtcat::bridge
