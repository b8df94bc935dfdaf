// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <gtest/gtest.h>

#include "lib/connection/two_ends.hpp"
#include "lib/session/join.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;

class ListenerTest : public TwoEnds {
 protected:
  /// UDT connections that never say a word.
  void connect_strangers(std::size_t count) {
    engine = std::move(*transport::make_engine(io, {}));
    for (std::size_t i = 0; i < count; ++i) {
      bool answered = false;
      engine->async_connect(listener->local_endpoints().front(), {}, 1s,
                            [&](Result<std::unique_ptr<transport::Channel>> channel) {
                              answered = true;
                              if (channel) strangers.push_back(std::move(*channel));
                            });
      run_until([&] { return answered; });
    }
  }

  std::unique_ptr<transport::Engine> engine;
  std::vector<std::unique_ptr<transport::Channel>> strangers;
};

TEST_F(ListenerTest, SaysWhoWasRefusedAndServesTheRightPeerAllTheSame) {
  start_listening(listen_request());
  for (int i = 0; i < 3; ++i) {
    auto request = dial_request();
    request.credentials = std::move(*Key::generate());
    start_dialing(std::move(request));
    run_until_dialed();
  }
  run_until([this] { return refusals.size() == 3; });
  EXPECT_EQ(refusals[0].code, Errc::authentication_failed);
  start_dialing(dial_request());
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
}

TEST_F(ListenerTest, RefusesALesserProtectionThanItAsksFor) {
  start_listening(listen_request());
  auto request = dial_request();
  request.session.protection = Protection::safe;
  start_dialing(std::move(request));
  run_until_dialed();
  EXPECT_EQ(error(), Errc::parameters_refused);
}

TEST_F(ListenerTest, ServesManyPeersOnOnePort) {
  start_listening(listen_request());
  std::vector<std::unique_ptr<Connection>> connections;
  for (std::size_t i = 1; i <= 5; ++i) {
    start_dialing(dial_request());
    run_until_dialed();
    ASSERT_TRUE(*result);
    connections.push_back(std::move(**result));
    run_until([&] { return welcomed.size() == i; });
  }
}

TEST_F(ListenerTest, WelcomesASessionWhoseFlowsJoinItLater) {
  start_listening(listen_request());
  auto request = dial_request();
  request.session.flows = 4;
  start_dialing(std::move(request));
  run_until_dialed();
  ASSERT_TRUE(*result) << result->error().message();
  run_until([this] { return welcomed.size() == 1; });
  run_until([this] { return (**result)->stats().flows == 4 && welcomed.front()->stats().flows == 4; });
  EXPECT_TRUE(refusals.empty());
}

TEST_F(ListenerTest, TakesTheFlowsOfASessionThoughItTakesNoMoreSessions) {
  start_listening(listen_request());
  auto request = dial_request();
  request.session.flows = 4;
  start_dialing(std::move(request));
  run_until([this] { return result && welcomed.size() == 1; });
  ASSERT_TRUE(*result) << result->error().message();
  listener->stop();
  run_until([this] { return (**result)->stats().flows == 4; });
  EXPECT_TRUE(refusals.empty());
  const auto whole = std::move(**result);
  auto too_late = dial_request();
  too_late.timeout = std::chrono::seconds(1);
  start_dialing(std::move(too_late));
  run_until_dialed();
  ASSERT_FALSE(*result);
  EXPECT_EQ(result->error().code, Errc::cannot_reach) << result->error().message();
  EXPECT_NE(result->error().message().find("takes no more connections"), std::string::npos)
      << result->error().message();
}

TEST_F(ListenerTest, LimitsTheFlowsOfItsPeers) {
  auto listening = listen_request();
  listening.session.flows = 2;
  start_listening(std::move(listening));
  auto request = dial_request();
  request.session.flows = 16;
  start_dialing(std::move(request));
  run_until_dialed();
  ASSERT_TRUE(*result) << result->error().message();
  run_until([this] { return (**result)->stats().flows == 2; });
  test::run_for(io, std::chrono::milliseconds(300));
  EXPECT_EQ((**result)->stats().flows, 2U);
  EXPECT_TRUE(refusals.empty());
}

TEST_F(ListenerTest, UnderALimitOnTheRateTakesOneFlowUnlessTold) {
  auto listening = listen_request();
  listening.transport.rate = BitRate::from_bits_per_second(100'000'000);
  start_listening(std::move(listening));
  auto request = dial_request();
  request.session.flows = 4;
  start_dialing(std::move(request));
  run_until_dialed();
  ASSERT_TRUE(*result) << result->error().message();
  EXPECT_EQ((**result)->stats().flows, 1U);
}

TEST_F(ListenerTest, TurnsAwayWhoJoinsNoSession) {
  start_listening(listen_request());
  connect_strangers(1);
  const auto join = encode(*session::JoinKey({}, {}).join({1, 1}));
  strangers[0]->async_write(core::SharedBytes::adopt({join.begin(), join.end()}), [](const Status&) {});
  std::array<std::byte, 1> answer{};
  std::optional<Status> heard;
  strangers[0]->async_read(answer, [&](const Status& status) { heard = status; });
  run_until([&] { return refusals.size() == 1 && heard; });
  EXPECT_EQ(refusals[0].code, Errc::authentication_failed);
  EXPECT_FALSE(*heard) << "not a word";
  start_dialing(dial_request());
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
}

TEST_F(ListenerTest, ListensOnBothFamiliesAtOnce) {
  start_listening(listen_request(""));
  ASSERT_EQ(listener->local_endpoints().size(), 2U);
  const auto port = listener->local_endpoints().front().port();
  for (const char* address : {"127.0.0.1", "::1"}) {
    auto request = dial_request();
    request.addresses = std::move(*resolve({address, port}, AddressFamily::any));
    start_dialing(std::move(request));
    run_until_dialed();
    EXPECT_TRUE(*result) << address << ": " << result->error().message();
  }
}

TEST_F(ListenerTest, LetsAPeerInThoughStrangersHoldEveryPlace) {
  start_listening(listen_request());
  connect_strangers(40);
  start_dialing(dial_request());
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
}

/// The stranger's bytes must not go on arriving in memory that is no longer its handshake's (seen by the sanitizers).
TEST_F(ListenerTest, StopsWhileStrangersAreInTheMiddleOfAHandshake) {
  start_listening(listen_request());
  connect_strangers(8);
  const std::array<std::byte, 100> header{std::byte{22}, std::byte{3}, std::byte{1}, std::byte{0x40}, std::byte{0}};
  std::size_t written = 0;
  for (const auto& stranger : strangers)
    stranger->async_write(core::SharedBytes::adopt({header.begin(), header.end()}), [&](const Status&) { ++written; });
  run_until([&] { return written == strangers.size(); });
  start_dialing(dial_request());
  run_until_dialed();
  run_until([this] { return welcomed.size() == 1; });
  for (const auto& stranger : strangers)
    stranger->async_write(core::SharedBytes::adopt({header.begin(), header.end()}), [](const Status&) {});
  listener->stop();
  io.run_for(100ms);
  EXPECT_TRUE(*result);
}

TEST_F(ListenerTest, KeepsItsConnectionsWhenItStops) {
  start_listening(listen_request());
  start_dialing(dial_request());
  run_until_dialed();
  run_until([this] { return welcomed.size() == 1; });
  listener->stop();
  std::optional<Status> closed;
  welcomed.front()->on_closed([&](const Status& status) { closed = status; });
  (**result)->close();
  run_until([&] { return closed.has_value(); });
  EXPECT_TRUE(*closed);
}

TEST_F(ListenerTest, ReportsAPortThatIsTaken) {
  start_listening(listen_request());
  auto request = listen_request();
  request.locals = listener->local_endpoints();
  const auto second = listen(
      io, std::move(request), [](const std::unique_ptr<Connection>&) {}, [](const Endpoint&, const Error&) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::cannot_bind);
}

TEST_F(ListenerTest, WaitsByTcpAtTheSamePort) {
  start_listening(listen_request());
  EXPECT_EQ(listener->tcp_endpoints(), listener->local_endpoints());
  EXPECT_FALSE(listener->tcp_failure());
  auto request = dial_request();
  request.transport.kind = TransportKind::tcp;
  start_dialing(std::move(request));
  run_until_dialed();
  ASSERT_TRUE(*result) << result->error().message();
  run_until([this] { return welcomed.size() == 1; });
  EXPECT_EQ(welcomed.front()->stats().transport, TransportKind::tcp);
}

TEST_F(ListenerTest, GoesOnByUdpWhereAnotherProgramHasTheTcpPort) {
  using boost::asio::ip::tcp;
  const tcp::acceptor taker(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  auto request = listen_request();
  request.locals = {request.locals.front().with_port(taker.local_endpoint().port())};
  start_listening(std::move(request));
  EXPECT_TRUE(listener->tcp_endpoints().empty());
  ASSERT_TRUE(listener->tcp_failure());
  EXPECT_EQ(listener->tcp_failure()->code, Errc::cannot_bind);
  start_dialing(dial_request());
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
}

TEST_F(ListenerTest, HasNoTcpWhereOnlyUdpIsWanted) {
  auto request = listen_request();
  request.transport.kind = TransportKind::native;
  start_listening(std::move(request));
  EXPECT_TRUE(listener->tcp_endpoints().empty());
  EXPECT_FALSE(listener->tcp_failure());
}

TEST_F(ListenerTest, ListensForNoApplicationWithoutAName) {
  for (const bool first : {true, false}) {
    ListenRequest request = listen_request();
    if (first)
      request.session.application.clear();
    else
      request.further.emplace_back();
    const auto made = listen(
        io, std::move(request), [](auto) {}, [](auto&, auto&) {});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::bad_argument);
  }
}

TEST_F(ListenerTest, KeepsTheLimitsOfItsApplicationsApart) {
  ListenRequest request = listen_request();
  request.limits.peers = request.limits.sessions_per_peer = 1;
  FurtherApplication further{.session = request.session, .limits = {.peers = 1, .sessions_per_peer = 1}};
  further.session.application = "further";
  further.session.sends = false;
  request.further.push_back(further);
  start_listening(std::move(request));
  std::vector<std::unique_ptr<Connection>> made;
  for (const char* application : {"pipe", "further"}) {
    DialRequest dialling = dial_request();
    dialling.session.application = application;
    start_dialing(std::move(dialling));
    run_until_dialed();
    ASSERT_TRUE(*result) << result->error().message();
    EXPECT_EQ((**result)->application(), application);
    EXPECT_EQ((**result)->peer_sends(), application == std::string("pipe")) << "each has options of its own";
    made.push_back(std::move(**result));
  }
}

}  // namespace
}  // namespace udtcat::connection
