#include <udtcat/bridges.hpp>

#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::bridge {
namespace {

struct TcpServiceTest : ::testing::Test {
  std::unique_ptr<TcpService> serve(const Endpoint& target) {
    auto service = make_tcp_service(io, {target}, "db:5432", [this](const Endpoint& peer, const Error& error) {
      EXPECT_EQ(peer, kPeer);
      trouble.push_back(error);
    });
    service->serve(*connection);
    return service;
  }
  const Endpoint kPeer = from_asio(tcp::endpoint(boost::asio::ip::make_address("192.0.2.1"), 9000));
  boost::asio::io_context io;
  std::unique_ptr<FakeConnection> connection = std::make_unique<FakeConnection>(kPeer);
  std::vector<Error> trouble;
  tcp::acceptor listening{io, loopback()};
  Endpoint up = from_asio(listening.local_endpoint());
  RefusingPort down{io};
};

TEST_F(TcpServiceTest, ConnectsEachStream) {
  const auto service = serve(up);
  for (StreamId id = 0; id < 10; id += 2) connection->peer_opens(io, id);
  ASSERT_TRUE(run_until(io, [&] { return connection->accepted.size() == 5; }));
  tcp::socket served = listening.accept();
  served.close();
  EXPECT_EQ(connection->accepted[0].local->source_name(), "tcp " + up.to_string());
  EXPECT_TRUE(trouble.empty());
}

TEST_F(TcpServiceTest, RefusesWithTheReasonWhileTheServiceIsDown) {
  const auto service = serve(down.endpoint());
  connection->peer_opens(io, 2);
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.contains(2); }));
  EXPECT_EQ(connection->refused[2].code, Errc::local_connect_failed);
  EXPECT_EQ(connection->refused[2].message(), "connect tcp db:5432: connection refused");
  ASSERT_EQ(trouble.size(), 1U);
  EXPECT_EQ(trouble[0].message(), connection->refused[2].message());
}

TEST_F(TcpServiceTest, TellsTheOperatorOnceWhenManyAreRefused) {
  const auto service = serve(down.endpoint());
  for (StreamId id = 0; id < 40; id += 2) connection->peer_opens(io, id);
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.size() == 20; }));
  EXPECT_EQ(trouble.size(), 1U);
}

TEST_F(TcpServiceTest, TellsOfStreamsThatEndedInTroubleOnly) {
  const auto service = serve(up);
  connection->peer_opens(io, 0);
  ASSERT_TRUE(run_until(io, [&] { return connection->accepted.contains(0); }));
  const auto& done = connection->accepted[0].done;
  done({});
  done({.error = Error{Errc::local_write_failed, "writing", core::errno_text(ECONNRESET)}});
  EXPECT_TRUE(trouble.empty());
  done({.error = Error{Errc::local_read_failed, "reading", core::errno_text(ETIMEDOUT)}});
  EXPECT_EQ(trouble.size(), 1U);
}

TEST_F(TcpServiceTest, LetsGoOfAConnectionThatIsGoneByAReset) {
  const auto service = serve(up);
  connection->peer_opens(io, 0);
  ASSERT_EQ(io.run_one(), 1U) << "the attempt has begun";
  connection.reset();
  io.run();
  tcp::socket served = listening.accept();
  char none = 0;
  boost::system::error_code error;
  served.read_some(boost::asio::buffer(&none, 1), error);
  EXPECT_EQ(error, boost::asio::error::connection_reset) << "an end would say that the stream was empty";
}

TEST_F(TcpServiceTest, DoesNothingOnceDestroyed) {
  auto service = serve(up);
  connection->peer_opens(io, 0);
  ASSERT_EQ(io.run_one(), 1U) << "the attempt has begun";
  service.reset();
  connection->peer_opens(io, 2);
  io.run();
  EXPECT_TRUE(connection->accepted.empty());
  EXPECT_TRUE(connection->refused.empty());
}

}  // namespace
}  // namespace udtcat::bridge
