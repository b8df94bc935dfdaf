// SPDX-License-Identifier: Apache-2.0
#include "forward/forward.hpp"

#include <optional>

#include <gtest/gtest.h>
#include <boost/asio/ip/tcp.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "support/addresses.hpp"
#include "support/run_until.hpp"

namespace udtcat::forward {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using bridge::FakeConnection;
using test::run_ready;
using test::run_until;

/// A session that keeps the clients it takes.
struct Taking final : ForwardSession {
  explicit Taking(FakeConnection& connection) : peer(connection) {}
  void take(bridge::StreamSocket client, const Endpoint&, const std::string& service, EndHandler ended) override {
    sockets.push_back(std::move(client));
    services.push_back(service);
    ends.push_back(std::move(ended));
    --peer.room;
  }
  [[nodiscard]] bool is_for(const std::string& service) const override {
    return peer.services.empty() || std::ranges::find(peer.services, service) != peer.services.end();
  }
  [[nodiscard]] bool has_lost_services() override { return lost; }
  FakeConnection& peer;
  bool lost = false;
  std::vector<bridge::StreamSocket> sockets;
  std::vector<std::string> services;
  std::vector<EndHandler> ends;
};

struct ForwardTest : ::testing::Test {
  Forward& make(std::chrono::milliseconds timeout = 10s, SessionSource source = SessionSource::dialled) {
    forward.emplace(
        io, timeout, source,
        [this](Connection& connection, const ErrorHandler&) {
          auto session = std::make_unique<Taking>(dynamic_cast<FakeConnection&>(connection));
          sessions.push_back(session.get());
          return session;
        },
        Forward::Handlers{.on_want = [this] { ++wanted; },
                          .on_up = [this](const Connection&) { ++up; },
                          .on_gone = [this](Connection&, const Status& how) { gone.push_back(how); }});
    EXPECT_TRUE(forward->open_listener({{bridge::loopback_v4()}, {}}, "db"));
    const std::string name = forward->listener_names().at(0);  // "tcp 127.0.0.1:PORT to db"
    port = static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
    return *forward;
  }
  /// A session of that much room.
  FakeConnection& add(std::size_t room, std::vector<std::string> services = {}) {
    auto connection = std::make_unique<FakeConnection>(bridge::loopback_v4());
    connection->room = room;
    connection->services = std::move(services);
    FakeConnection& added = *connection;
    forward->add(std::move(connection));
    return added;
  }
  FakeConnection& add_of_age(std::chrono::milliseconds age) {
    FakeConnection& added = add(10);
    set_age(added, age);
    return added;
  }
  static void set_age(FakeConnection& connection, std::chrono::milliseconds age) {
    connection.current_stats.made_at = std::chrono::steady_clock::now() - age;
  }
  tcp::socket& come() {
    clients.emplace_back(io).connect({boost::asio::ip::address_v4::loopback(), port});
    return clients.back();
  }
  [[nodiscard]] std::size_t waiting() const {
    tool::ProcessSnapshot snapshot;
    forward->add_to(snapshot);
    return snapshot.clients_waiting;
  }
  [[nodiscard]] bool waits(std::size_t count) {
    return run_until(io, [&] { return waiting() == count; });
  }
  [[nodiscard]] bool takes(std::size_t session, std::size_t count) {
    return run_until(io, [&] { return sessions.at(session)->sockets.size() == count; });
  }

  boost::asio::io_context io;
  std::optional<Forward> forward;
  std::uint16_t port = 0;
  std::list<tcp::socket> clients;
  std::vector<Taking*> sessions;
  int wanted = 0;
  int up = 0;
  std::vector<Status> gone;
};

TEST_F(ForwardTest, LetsClientsWaitForASession) {
  make();
  come();
  ASSERT_TRUE(waits(1));
  EXPECT_GE(wanted, 1);
  add(10);
  ASSERT_TRUE(takes(0, 1));
  EXPECT_EQ(sessions[0]->services[0], "db");
}

TEST_F(ForwardTest, ResetsAClientWithoutASessionInTime) {
  make(50ms);
  tcp::socket& client = come();
  ASSERT_TRUE(waits(1));
  ASSERT_TRUE(waits(0));
  EXPECT_EQ(bridge::read_error(client), boost::asio::error::connection_reset);
}

TEST_F(ForwardTest, ResetsClientsAtOnceWhereThePeerRefuses) {
  make(1h);
  tcp::socket& client = come();
  ASSERT_TRUE(waits(1));
  const Error why{Errc::authentication_failed, "connect to far:9000", "the listener does not know our key"};
  forward->on_refused({bridge::loopback_v4()}, why, std::chrono::steady_clock::now());
  EXPECT_EQ(waiting(), 0U);
  EXPECT_EQ(bridge::read_error(client), boost::asio::error::connection_reset);
  add(10);
  come();
  EXPECT_TRUE(takes(0, 1)) << "it does so no longer";
}

TEST_F(ForwardTest, KeepsClientsThatWaitWhileASessionAnswers) {
  make(1h);
  add(1);
  for (int i = 0; i < 2; ++i) come();
  ASSERT_TRUE(takes(0, 1) && waits(1));
  forward->on_refused({}, {Errc::authentication_failed, "connect", "no"}, std::chrono::steady_clock::now());
  EXPECT_EQ(waiting(), 1U);
}

TEST_F(ForwardTest, GivesClientsToTheNewestSessionWithRoomAndWantsAnotherWhereAllAreFull) {
  make();
  add(1);
  add(2);
  for (int i = 0; i < 3; ++i) come();
  ASSERT_TRUE(takes(1, 2));
  ASSERT_TRUE(takes(0, 1));
  EXPECT_EQ(wanted, 0);
  come();
  ASSERT_TRUE(waits(1));
  EXPECT_GE(wanted, 1);
}

TEST_F(ForwardTest, ResetsNoClientThatWaitsForAFullSession) {
  make(50ms);
  FakeConnection& full = add(1);
  come();
  ASSERT_TRUE(takes(0, 1));
  tcp::socket& second = come();
  ASSERT_TRUE(waits(1));
  io.run_for(200ms);  // several times the timeout
  ASSERT_EQ(waiting(), 1U);
  full.room = 1;
  sessions[0]->ends[0]();
  EXPECT_TRUE(takes(0, 2));
  EXPECT_TRUE(second.is_open());
}

TEST_F(ForwardTest, GivesNoClientToASessionThatDoesNotAnswer) {
  make();
  add(10).answering = false;
  come();
  ASSERT_TRUE(waits(1));
  add(1);
  EXPECT_TRUE(takes(1, 1));
}

TEST_F(ForwardTest, WantsAnotherSessionForClientsWhoseSessionDoesNotAnswer) {
  make();
  FakeConnection& idle = add(10);
  idle.answering = false;
  idle.quiet();
  EXPECT_EQ(wanted, 0) << "nobody waits";
  idle.current_stats.streams_open = 1;
  idle.quiet();
  EXPECT_EQ(wanted, 1);
}

TEST_F(ForwardTest, GivesUpASessionWhosePeerAnswersInOneThatWasMadeSince) {
  make();
  FakeConnection& silent = add_of_age(10min);
  FakeConnection& busy = add_of_age(10min);
  silent.answering = false;
  silent.quiet();
  FakeConnection& newest = add_of_age(0s);
  silent.current_stats.silence = 10s;
  busy.current_stats.streams_open = 1;
  forward->tidy_up(newest.current_stats.made_at + 4s);
  EXPECT_FALSE(silent.aborted) << "its path may be about to carry again";
  forward->tidy_up(newest.current_stats.made_at + 5s);
  ASSERT_TRUE(silent.aborted);
  EXPECT_EQ(silent.aborted->code, Errc::peer_lost);
  EXPECT_FALSE(busy.aborted);
}

TEST_F(ForwardTest, KeepsASessionThatWasHeardAgainSinceANewerOneWasMade) {
  make();
  FakeConnection& silent = add_of_age(10min);
  silent.answering = false;
  silent.quiet();
  FakeConnection& newest = add_of_age(0s);
  silent.current_stats.silence = 2s;  // the path is down again, for both
  forward->tidy_up(newest.current_stats.made_at + 20s);
  EXPECT_FALSE(silent.aborted);
}

TEST_F(ForwardTest, KeepsASilentSessionWhileNoneThatWasMadeSinceAnswers) {
  make();
  FakeConnection& silent = add_of_age(10min);
  add_of_age(10s);  // which may not have been asked since the path is down
  silent.answering = false;
  silent.quiet();
  forward->tidy_up(std::chrono::steady_clock::now());
  EXPECT_FALSE(silent.aborted);
}

TEST_F(ForwardTest, KeepsASilentSessionWhileNoNewerOneAnswers) {
  make();
  FakeConnection& oldest = add_of_age(10min);
  FakeConnection& silent = add_of_age(10min);
  FakeConnection& newest = add_of_age(10min);
  silent.answering = newest.answering = false;
  forward->tidy_up(std::chrono::steady_clock::now());
  EXPECT_FALSE(silent.aborted);
  EXPECT_FALSE(newest.aborted);
  oldest.answering = false;
  forward->tidy_up(std::chrono::steady_clock::now());
  EXPECT_FALSE(oldest.aborted);
}

TEST_F(ForwardTest, ClosesSessionsThatNobodyUsesButTheNewestThatAnswers) {
  make();
  FakeConnection& spare = add_of_age(10min);
  FakeConnection& used = add_of_age(10min);
  FakeConnection& newest = add_of_age(29s);
  used.current_stats.streams_open = 1;
  forward->tidy_up(std::chrono::steady_clock::now());
  EXPECT_FALSE(spare.was_closed) << "a crowd may still be coming";
  set_age(newest, 30s);
  forward->tidy_up(std::chrono::steady_clock::now());
  EXPECT_TRUE(spare.was_closed);
  EXPECT_FALSE(used.was_closed);
  EXPECT_FALSE(newest.was_closed);
  used.current_stats.streams_open = 0;
  forward->tidy_up(std::chrono::steady_clock::now());
  EXPECT_TRUE(used.was_closed);
}

TEST_F(ForwardTest, GivesClientsToAPeerThatServesWhatTheyWant) {
  make();
  add(10, {"web"});
  come();
  ASSERT_TRUE(waits(1));
  add(1, {"web", "db"});
  EXPECT_TRUE(takes(1, 1));
}

TEST_F(ForwardTest, GivesClientsToASessionThatAnswersAgain) {
  make();
  FakeConnection& stalled = add(10);
  stalled.answering = false;
  come();
  ASSERT_TRUE(waits(1));
  stalled.answering = true;
  EXPECT_TRUE(takes(0, 1));
}

TEST_F(ForwardTest, EndsSessionsThatHaveLostAService) {
  make();
  FakeConnection& first = add(10);
  FakeConnection& second = add(10);
  sessions[1]->lost = true;
  forward->recheck();
  EXPECT_FALSE(first.aborted);
  ASSERT_TRUE(second.aborted);
  EXPECT_EQ(second.aborted->code, Errc::parameters_refused);
}

TEST_F(ForwardTest, LetsClientsOfOneServiceDelayNoOther) {
  make();
  ASSERT_TRUE(forward->open_listener({{bridge::loopback_v4()}, {}}, "web"));
  add(10, {"web"});
  for (std::size_t i = 0; i < kMaxWaitingClients + 10; ++i) come();
  ASSERT_TRUE(run_until(io, [&] { return waiting() >= kMaxWaitingClients; }));
  const std::string name = forward->listener_names().at(1);
  port = static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
  come();
  EXPECT_TRUE(takes(0, 1));
}

TEST_F(ForwardTest, PausesItsListenersWhileManyClientsWait) {
  make();
  for (std::size_t i = 0; i < kMaxWaitingClients + 100; ++i) come();
  ASSERT_TRUE(run_until(io, [&] { return waiting() >= kMaxWaitingClients; }));
  run_ready(io);
  EXPECT_LE(waiting(), kMaxWaitingClients + 1);
  add(2 * kMaxWaitingClients);
  EXPECT_TRUE(takes(0, kMaxWaitingClients + 100));
}

TEST_F(ForwardTest, KeepsTheStatisticsOfSessionsThatHaveEnded) {
  make();
  FakeConnection& first = add(10);
  first.current_stats.bytes_sent = 5;
  first.closed(Status{});
  ASSERT_TRUE(run_until(io, [&] { return gone.size() == 1; }));
  EXPECT_EQ(forward->sessions(), 0U);
  add(10).current_stats.bytes_sent = 2;
  EXPECT_EQ(forward->total().bytes_sent, 7U);
  tool::ProcessSnapshot snapshot;
  forward->add_to(snapshot);
  ASSERT_EQ(snapshot.peer_totals.size(), 1U) << "neither has a name";
  EXPECT_EQ(snapshot.peer_totals[0].bytes_sent, 7U);
  EXPECT_EQ(snapshot.peer_totals[0].handshakes, 2U);
  EXPECT_EQ(snapshot.peer_totals[0].sessions, 1U);
}

TEST_F(ForwardTest, StopsWhenEverySessionHasEnded) {
  make();
  FakeConnection& first = add(0);
  tcp::socket& client = come();
  ASSERT_TRUE(waits(1));
  bool stopped = false;
  forward->stop({Errc::interrupted, "interrupted", "by SIGTERM"}, [&] { stopped = true; });
  EXPECT_EQ(first.aborted->code, Errc::interrupted);
  EXPECT_EQ(bridge::read_error(client), boost::asio::error::connection_reset);
  EXPECT_FALSE(stopped);
  first.closed(tl::unexpected(*first.aborted));
  EXPECT_TRUE(run_until(io, [&] { return stopped; }));
  tcp::socket late(io);
  boost::system::error_code refused;
  late.connect({boost::asio::ip::address_v4::loopback(), port}, refused);
  EXPECT_EQ(refused, boost::asio::error::connection_refused);
}

TEST_F(ForwardTest, StopsWithoutWaitingForThePeersOfItsSessions) {
  make();
  FakeConnection& only = add(0);
  const std::weak_ptr<int> alive = only.life;
  bool stopped = false;
  forward->stop({Errc::interrupted, "interrupted", "by SIGTERM"}, [&] { stopped = true; });
  only.closed(tl::unexpected(*only.aborted));
  EXPECT_TRUE(run_until(io, [&] { return stopped; }));
  EXPECT_FALSE(alive.expired());
}

TEST_F(ForwardTest, ReleasesAConnectionSomeSecondsAfterItsSessionHasEnded) {
  make();
  FakeConnection& only = add(0);
  const std::weak_ptr<int> alive = only.life;
  only.closed({});
  EXPECT_TRUE(run_until(io, [&] { return gone.size() == 1; }));
  EXPECT_FALSE(alive.expired());
  EXPECT_TRUE(run_until(
      io, [&] { return alive.expired(); }, 10s));
}

TEST_F(ForwardTest, ReleasesAnAcceptedConnectionAtOnce) {
  make(10s, SessionSource::accepted);
  FakeConnection& only = add(0);
  const std::weak_ptr<int> alive = only.life;
  only.closed({});
  EXPECT_TRUE(run_until(io, [&] { return gone.size() == 1; }));
  EXPECT_TRUE(alive.expired());
}

TEST_F(ForwardTest, GivesUpASilentSessionWhoseAddressRefusesNewOnes) {
  make();
  FakeConnection& session = add(10);
  session.answering = false;
  session.current_stats.silence = 10s;
  const Endpoint elsewhere = test::address_of("192.0.2.1", 9000);
  const Error other_key{Errc::authentication_failed, "connect to far:9000", "another key"};
  const auto now = std::chrono::steady_clock::now();
  forward->on_refused({session.peer()}, other_key, now);
  EXPECT_FALSE(session.aborted) << "its path may only just be back";
  forward->on_refused({elsewhere}, other_key, now + 4s);
  EXPECT_FALSE(session.aborted) << "another address says nothing of this one";
  session.current_stats.silence = 3s;
  forward->on_refused({session.peer()}, other_key, now + 4s);
  EXPECT_FALSE(session.aborted) << "it has answered meanwhile";
  session.current_stats.silence = 14s;
  forward->on_refused({elsewhere, session.peer()}, other_key, now + 8s);
  ASSERT_TRUE(session.aborted);
  EXPECT_EQ(session.aborted->code, Errc::peer_lost);
}

TEST_F(ForwardTest, KeepsASessionThatAnswersAlsoWhereNewOnesAreRefused) {
  make();
  FakeConnection& session = add(10);
  const Error refused{Errc::parameters_refused, "connect", "too many"};
  const auto now = std::chrono::steady_clock::now();
  for (const auto later : {0s, 4s, 40s}) forward->on_refused({session.peer()}, refused, now + later);
  EXPECT_FALSE(session.aborted);
}

}  // namespace
}  // namespace udtcat::forward
