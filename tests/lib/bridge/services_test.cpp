#include <udtcat/bridges.hpp>

#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "lib/bridge/unix_socket.hpp"
#include "lib/core/user_text.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::bridge {
namespace {

struct ServicesTest : ::testing::Test {
  std::unique_ptr<Services> serve(const Endpoint& target) {
    return serve_all({{.name = "", .shown = "tcp db:5432", .address = {{target}, {}}}});
  }
  std::unique_ptr<Services> serve_all(std::vector<Service> all) {
    auto services = make_services(io, std::move(all), [this](const Endpoint& peer, const Error& error) {
      EXPECT_EQ(peer, kPeer);
      trouble.push_back(error);
    });
    services->serve(*connection, [this](const std::string& name) { return name != forbidden; });
    return services;
  }
  /// Of each stream, in turn.
  [[nodiscard]] bool are_accepted(std::size_t count) {
    return run_until(io, [&] { return connection->accepted.size() == count; });
  }
  const Endpoint kPeer = from_asio(tcp::endpoint(boost::asio::ip::make_address("192.0.2.1"), 9000));
  boost::asio::io_context io;
  std::unique_ptr<FakeConnection> connection = std::make_unique<FakeConnection>(kPeer);
  std::vector<Error> trouble;
  std::string forbidden = "vault";
  tcp::acceptor listening{io, loopback()};
  Endpoint up = from_asio(listening.local_endpoint());
  RefusingPort down{io};
};

TEST_F(ServicesTest, ConnectsEachStream) {
  const auto service = serve(up);
  for (StreamId id = 0; id < 10; id += 2) connection->peer_opens(io, id);
  ASSERT_TRUE(run_until(io, [&] { return connection->accepted.size() == 5; }));
  tcp::socket served = listening.accept();
  served.close();
  EXPECT_EQ(connection->accepted[0].local->source_name(), "tcp " + up.to_string());
  EXPECT_TRUE(trouble.empty());
}

TEST_F(ServicesTest, RefusesWithTheReasonWhileTheServiceIsDown) {
  const auto service = serve(down.endpoint());
  connection->peer_opens(io, 2);
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.contains(2); }));
  EXPECT_EQ(connection->refused[2].code, Errc::local_connect_failed);
  EXPECT_EQ(connection->refused[2].message(), "connect tcp db:5432: connection refused");
  ASSERT_EQ(trouble.size(), 1U);
  EXPECT_EQ(trouble[0].message(), connection->refused[2].message());
}

TEST_F(ServicesTest, TellsTheOperatorOnceWhenManyAreRefused) {
  const auto service = serve(down.endpoint());
  for (StreamId id = 0; id < 40; id += 2) connection->peer_opens(io, id);
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.size() == 20; }));
  EXPECT_EQ(trouble.size(), 1U);
}

TEST_F(ServicesTest, TellsOfStreamsThatEndedInTroubleOnly) {
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

TEST_F(ServicesTest, LetsGoOfAConnectionThatIsGoneByAReset) {
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

TEST_F(ServicesTest, ConnectsAStreamToTheServiceThatItNames) {
  tcp::acceptor other(io, loopback());
  const auto services =
      serve_all({{.name = "db", .shown = "tcp db", .address = {{up}, {}}},
                 {.name = "web", .shown = "tcp web", .address = {{from_asio(other.local_endpoint())}, {}}}});
  connection->peer_opens(io, 0, "web");
  ASSERT_TRUE(are_accepted(1));
  EXPECT_EQ(connection->accepted[0].local->source_name(), "tcp " + from_asio(other.local_endpoint()).to_string());
}

TEST_F(ServicesTest, RefusesAServiceThatIsNotThereOrNotForThePeer) {
  const auto services = serve_all({{.name = "vault", .shown = "tcp vault", .address = {{up}, {}}}});
  connection->peer_opens(io, 0, "vault");
  connection->peer_opens(io, 2, "db");
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.size() == 2; }));
  EXPECT_EQ(connection->refused[0].message(), "reach the service vault: this peer may not");
  EXPECT_EQ(connection->refused[2].message(), "reach the service db: there is none here");
  EXPECT_EQ(connection->refused[0].code, Errc::stream_refused);
  EXPECT_EQ(trouble.size(), 2U);
}

TEST_F(ServicesTest, LetsStreamsWaitForEachOtherRatherThanRefuseSome) {
  const auto services = serve(up);
  for (StreamId id = 0; id < 2 * 600; id += 2) connection->peer_opens(io, id);
  std::vector<tcp::socket> served;
  listening.non_blocking(true);
  EXPECT_TRUE(run_until(io, [&] {
    boost::system::error_code none;
    while (!none) {
      tcp::socket socket = listening.accept(none);
      if (!none) served.push_back(std::move(socket));
    }
    return connection->accepted.size() == 600;
  }));
  EXPECT_TRUE(connection->refused.empty());
}

TEST_F(ServicesTest, ConnectsToAUnixSocket) {
  const test::TempDir dir;
  const std::string path = dir.path() / "db.sock";
  const auto listening_there = bind_unix(io, path).value();
  const auto services = serve_all({{.name = "", .shown = "unix " + path, .address = {{}, path}}});
  connection->peer_opens(io, 0);
  ASSERT_TRUE(are_accepted(1));
  EXPECT_EQ(connection->accepted[0].local->source_name(), "unix " + path);
}

TEST_F(ServicesTest, DoesNothingOnceDestroyed) {
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
