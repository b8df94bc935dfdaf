// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <iterator>

#include <gtest/gtest.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "lib/bridge/unix_socket.hpp"
#include "lib/core/user_text.hpp"
#include "lib/net/racing.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::bridge {
namespace {

using namespace std::chrono_literals;

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
  static std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  [[nodiscard]] bool are_accepted(std::size_t count) {
    return run_until(io, [&] { return connection->accepted.size() == count; });
  }
  const Endpoint kPeer = from_asio(tcp::endpoint(boost::asio::ip::make_address("192.0.2.1"), 9000));
  boost::asio::io_context io;
  std::unique_ptr<FakeConnection> connection = std::make_unique<FakeConnection>(kPeer);
  FakeConnection neighbour{kPeer};
  std::vector<Error> trouble;
  std::string forbidden = "vault";
  tcp::acceptor listening{io, loopback()};
  Endpoint up = from_asio(listening.local_endpoint());
  RefusingPort down{io};
  static constexpr std::size_t kMany = 600;  // more attempts than a service gets at a time
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

TEST_F(ServicesTest, FindsAHostByItsName) {
  const auto service = serve_all({{.name = "", .shown = "tcp db", .address = {}, .host = {"localhost", up.port()}}});
  connection->peer_opens(io, 0);
  ASSERT_TRUE(are_accepted(1)) << "127.0.0.1, though ::1 refuses";
}

TEST_F(ServicesTest, SaysAtTheStartThatANameIsNotThereAndRefusesItsStreams) {
  std::vector<std::string> told;
  const auto service =
      make_services(io, {{.name = "", .shown = "tcp no.invalid:80", .address = {}, .host = {"no.invalid", 80}}},
                    [&](const Endpoint&, const Error& error) { told.push_back(error.message()); });
  ASSERT_TRUE(run_until(io, [&] { return told.size() == 1; }));
  EXPECT_EQ(told[0].substr(0, 22), "resolve 'no.invalid': ");
  service->serve(*connection, [](const std::string&) { return true; });
  connection->peer_opens(io, 2);
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.contains(2); }));
  EXPECT_EQ(connection->refused[2].message(), "connect tcp no.invalid:80: " + told[0]);
}

TEST_F(ServicesTest, BeginsWithTheAddressThatAnsweredLast) {
  const SilentPort silent(io);
  const auto service = serve_all({{.name = "", .shown = "tcp db", .address = {{silent.endpoint(), up}, {}}}});
  connection->peer_opens(io, 0);
  ASSERT_TRUE(are_accepted(1));
  const auto begun = std::chrono::steady_clock::now();
  for (StreamId id = 2; id < 40; id += 2) connection->peer_opens(io, id);
  ASSERT_TRUE(are_accepted(20));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, net::kConnectionAttemptDelay);
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

TEST_F(ServicesTest, TellsOfAServiceThatAPeerMayNotReachBehindManyNamesThatItMakesUp) {
  const auto services = serve_all({{.name = "vault", .shown = "tcp vault", .address = {{up}, {}}}});
  for (StreamId id = 0; id < 200; id += 2) connection->peer_opens(io, id, "n" + std::to_string(id));
  connection->peer_opens(io, 200, "vault");
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.size() == 101; }));
  EXPECT_EQ(trouble.back().message(), "reach the service vault: this peer may not");
}

TEST_F(ServicesTest, ReportsOnlyStreamsThatFailed) {
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

TEST_F(ServicesTest, ResetsTheSocketsOfAConnectionThatIsGone) {
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
  EXPECT_EQ(connection->refused[0].message(), "reach the service vault: no such service");
  EXPECT_EQ(connection->refused[2].message(), "reach the service db: no such service");
  EXPECT_EQ(connection->refused[0].code, Errc::stream_refused);
  ASSERT_EQ(trouble.size(), 2U);
  EXPECT_EQ(trouble.front().message(), "reach the service vault: this peer may not") << "the operator knows";
}

TEST_F(ServicesTest, TellsTheOperatorOfAFewNamesThatAPeerMakesUp) {
  const auto service = serve(up);
  constexpr StreamId kStreams = 100;
  for (StreamId id = 0; id < 2 * kStreams; id += 2) connection->peer_opens(io, id, "n" + std::to_string(id));
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.size() == kStreams; }));
  EXPECT_EQ(trouble.size(), 4U);
}

TEST_F(ServicesTest, NamesOnlyTheServicesThatThePeerMayReach) {
  const auto services = serve_all({{.name = "web", .shown = "tcp web", .address = {{up}, {}}},
                                   {.name = "vault", .shown = "tcp vault", .address = {{up}, {}}},
                                   {.name = "db", .shown = "tcp db", .address = {{up}, {}}}});
  connection->peer_opens(io, 0, "wbe");
  connection->peer_opens(io, 2);
  connection->peer_opens(io, 4, "vault");
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.size() == 3; }));
  const std::string offered = "; offered: web, db, as in --from PORT=web";
  EXPECT_EQ(connection->refused[0].message(), "reach the service wbe: no such service" + offered);
  EXPECT_EQ(connection->refused[2].message(), "reach the service without a name: no such service" + offered);
  EXPECT_EQ(connection->refused[4].message(), "reach the service vault: no such service" + offered);
  EXPECT_EQ(trouble.front().message(), connection->refused[0].message()) << "and the operator knows";
}

TEST_F(ServicesTest, SaysThatItsOneServiceHasNoName) {
  const auto service = serve(up);
  connection->peer_opens(io, 0, "web");
  ASSERT_TRUE(run_until(io, [&] { return connection->refused.contains(0); }));
  EXPECT_EQ(connection->refused[0].message(),
            "reach the service web: no such service; offered: one without a name, by --from PORT");
}

TEST_F(ServicesTest, LetsStreamsWaitForEachOtherRatherThanRefuseSome) {
  const auto services = serve(up);
  for (StreamId id = 0; id < 2 * kMany; id += 2) connection->peer_opens(io, id);
  std::vector<tcp::socket> served;
  listening.non_blocking(true);
  EXPECT_TRUE(run_until(io, [&] {
    boost::system::error_code none;
    while (!none) {
      tcp::socket socket = listening.accept(none);
      if (!none) served.push_back(std::move(socket));
    }
    return connection->accepted.size() == kMany;
  }));
  EXPECT_TRUE(connection->refused.empty());
}

TEST_F(ServicesTest, DelaysNoOtherServiceForASilentOne) {
  const SilentPort silent(io);
  const auto services = serve_all({{.name = "silent", .shown = "tcp silent", .address = {{silent.endpoint()}, {}}},
                                   {.name = "db", .shown = "tcp db", .address = {{up}, {}}}});
  services->serve(neighbour, [](const std::string&) { return true; });
  for (StreamId id = 0; id < 2 * kMany; id += 2) connection->peer_opens(io, id, "silent");
  connection->peer_opens(io, 2 * kMany, "db");
  neighbour.peer_opens(io, 0, "db");
  EXPECT_TRUE(
      run_until(io, [&] { return neighbour.accepted.contains(0) && connection->accepted.contains(2 * kMany); }));
  EXPECT_TRUE(connection->refused.empty()) << "no attempt had to end before";
}

TEST_F(ServicesTest, LetsConnectionsTakeTurns) {
  const auto services = serve(up);
  services->serve(neighbour, [](const std::string&) { return true; });
  for (StreamId id = 0; id < 2 * kMany; id += 2) connection->peer_opens(io, id);
  neighbour.peer_opens(io, 0);
  EXPECT_TRUE(run_until(io, [&] { return neighbour.accepted.contains(0); }));
  EXPECT_LT(connection->accepted.size(), kMany);
}

TEST_F(ServicesTest, ConnectsNoStreamThatHasEndedMeanwhile) {
  const auto services = serve(up);
  connection->peer_opens(io, 0);
  connection->peer_gives_up(io, 0);
  for (StreamId id = 2; id <= 2 * kMany; id += 2) connection->peer_opens(io, id);
  ASSERT_TRUE(run_until(io, [&] { return connection->accepted.size() > 0; }));
  connection->peer_gives_up(io, 2 * kMany);
  ASSERT_TRUE(are_accepted(kMany - 1));
  EXPECT_FALSE(connection->accepted.contains(0));
  EXPECT_FALSE(connection->accepted.contains(2 * kMany));
  EXPECT_TRUE(connection->refused.empty());
  EXPECT_TRUE(trouble.empty());
}

TEST_F(ServicesTest, KeepsNothingForStreamsThatAreGivenUp) {
  const SilentPort a(io);
  const SilentPort b(io);
  const auto services = serve_all({{.name = "a", .shown = "tcp a", .address = {{a.endpoint()}, {}}},
                                   {.name = "b", .shown = "tcp b", .address = {{b.endpoint()}, {}}}});
  const std::size_t before = open_descriptors();
  for (StreamId id = 0; id < 2 * kMany; id += 2) connection->peer_opens(io, id, id % 4 == 0 ? "a" : "b");
  run_ready(io);
  EXPECT_GT(open_descriptors(), before);
  for (StreamId id = 0; id < 2 * kMany; id += 2) connection->peer_gives_up(io, id);
  run_ready(io);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ServicesTest, GivesTheTurnsOfStreamsThatAreGivenUpToOthers) {
  SilentPort port(io);
  const auto services = serve(port.endpoint());
  for (StreamId id = 0; id < 2 * kMany; id += 2) connection->peer_opens(io, id);
  run_ready(io);
  for (StreamId id = 0; id < 2 * kMany; id += 2) connection->peer_gives_up(io, id);
  run_ready(io);
  const tcp::socket filler = port.acceptor.accept();
  connection->peer_opens(io, 2 * kMany);
  EXPECT_TRUE(run_until(
      io, [&] { return connection->accepted.contains(2 * kMany); }, 5s))
      << "before the timeout with the others was over";
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
