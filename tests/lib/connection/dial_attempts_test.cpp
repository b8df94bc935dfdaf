// SPDX-License-Identifier: Apache-2.0
/// The race of UDP and TCP (docs/spec/tcp.md §5): one host, reached by TCP at once and by UDP through a relay.
#include "lib/connection/dial_attempts.hpp"

#include <atomic>

#include <gtest/gtest.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/connection/two_ends.hpp"
#include "support/udp_relay.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using Tcp = boost::asio::ip::tcp;
using test::Towards;

class DialAttemptsTest : public TwoEnds {
 protected:
  void SetUp() override {
    TwoEnds::SetUp();
    auto by_udp = listen_request();
    by_udp.transport.kind = TransportKind::native;
    start_listening(std::move(by_udp));
    start_relay();
  }
  /// At a port that is the test's by TCP, too.
  void start_relay() {
    boost::system::error_code taken;
    do {
      relay.emplace(listener->local_endpoints().front().port());
      tcp_port.emplace(io, Tcp::v4());
      tcp_port->set_option(Tcp::socket::reuse_address(true));
      tcp_port->bind(by_tcp(), taken);
    } while (taken);
  }
  [[nodiscard]] Tcp::endpoint by_tcp() const { return {boost::asio::ip::address_v4::loopback(), relay->port()}; }
  [[nodiscard]] Endpoint host() const { return listener->local_endpoints().front().with_port(relay->port()); }

  void listen_by_tcp(std::optional<Credentials> credentials = std::nullopt) {
    auto request = listen_request();
    request.locals = {host()};
    request.transport.kind = TransportKind::tcp;
    if (credentials) request.credentials = std::move(credentials);
    auto udp = std::move(listener);
    start_listening(std::move(request));
    tcp_listener = std::exchange(listener, std::move(udp));
  }
  /// Another program has the TCP port.
  void have_another_program_listen() {
    other_program.emplace(io, by_tcp());
    other_program->non_blocking(true);
  }
  [[nodiscard]] bool was_called() {
    boost::system::error_code error;
    std::ignore = other_program->accept(error);
    return !error;
  }
  DialRequest request() {
    DialRequest made = dial_request();
    made.addresses = {host()};
    return made;
  }
  [[nodiscard]] TransportKind winner() {
    run_until_dialed();
    EXPECT_TRUE(*result) << result->error().message();
    return *result ? (**result)->stats().transport : TransportKind::automatic;
  }

  std::optional<test::UdpRelay> relay;
  std::unique_ptr<Listener> tcp_listener;
  std::optional<Tcp::acceptor> other_program;
  std::optional<Tcp::socket> tcp_port;  // which no other test draws; it does not listen
};

TEST_F(DialAttemptsTest, CallNobodyByTcpWhereUdpAnswersSoon) {
  have_another_program_listen();
  start_dialing(request());
  EXPECT_EQ(winner(), TransportKind::native);
  io.run_for(2 * kTcpDelay);
  EXPECT_FALSE(was_called());
}

TEST_F(DialAttemptsTest, TakeTcpWhereNobodyAnswersByUdp) {
  relay->blackhole(Towards::listener, true);
  listen_by_tcp();
  const auto began = Attempts::Clock::now();
  start_dialing(request());
  EXPECT_EQ(winner(), TransportKind::tcp);
  EXPECT_GE(Attempts::Clock::now() - began, kUdpRepeats) << "UDP has had its second packet";
  run_until([this] { return welcomed.size() == 1; });
  EXPECT_TRUE(refusals.empty());
}

TEST_F(DialAttemptsTest, TakeUdpWhereItsSecondPacketIsAnswered) {
  std::atomic<int> packets = 0;
  relay->rule(Towards::listener, [&packets](const test::PacketView&) { return test::Fate{.drop = packets++ == 0}; });
  listen_by_tcp();
  start_dialing(request());
  EXPECT_EQ(winner(), TransportKind::native);
  EXPECT_GT(packets, 1);
  io.run_for(100ms);  // the loser has gone
  EXPECT_TRUE(refusals.empty()) << refusals.front().message();
  EXPECT_EQ(welcomed.size(), 1U) << "no second session, which an application would have to tell from the first";
}

TEST_F(DialAttemptsTest, WaitForUdpThatHasAnsweredLate) {
  relay->impair(Towards::listener, {.delay_of_all = 240ms});
  listen_by_tcp();
  start_dialing(request());
  EXPECT_EQ(winner(), TransportKind::native);
}

TEST_F(DialAttemptsTest, TakeTcpWhereUdpAnswersAndGoesNoFurther) {
  std::atomic<int> packets = 0;
  relay->rule(Towards::connector, [&packets](const test::PacketView&) { return test::Fate{.drop = packets++ > 0}; });
  listen_by_tcp();
  const auto began = Attempts::Clock::now();
  start_dialing(request());
  EXPECT_EQ(winner(), TransportKind::tcp);
  EXPECT_GE(Attempts::Clock::now() - began, kAnsweredPatience);
}

/// The answer to the last flight is late: the listener has the session that the connector still waits for.
TEST_F(DialAttemptsTest, WaitForUdpThatHasProvedTheKey) {
  std::optional<std::uint32_t> first;
  std::optional<Attempts::Clock::time_point> began;
  relay->rule(Towards::connector, [first, began](const test::PacketView& packet) mutable {
    if (packet.is_data() && !first) first = packet.sequence();
    if (!packet.is_data() || packet.sequence() == *first) return test::Fate{};
    if (!began) began = Attempts::Clock::now();
    return test::Fate{.drop = Attempts::Clock::now() < *began + 2300ms};
  });
  listen_by_tcp();
  start_dialing(request());
  EXPECT_EQ(winner(), TransportKind::native);
  run_until([this] { return welcomed.size() == 1; });
  EXPECT_TRUE(refusals.empty());
}

TEST_F(DialAttemptsTest, TakeTcpAtOnceWhereThePortIsClosedForUdp) {
  listen_by_tcp();
  DialRequest closed = request();
  relay.reset();
  start_dialing(std::move(closed));
  EXPECT_EQ(winner(), TransportKind::tcp);
}

/// Nothing is said to the listener while the attempt is held: at clear it would have a session.
TEST_F(DialAttemptsTest, HoldAnAttemptAtClearToo) {
  listener.reset();
  auto udp = listen_request();
  udp.credentials.reset();
  udp.session.protection = Protection::clear;
  udp.transport.kind = TransportKind::native;
  start_listening(std::move(udp));
  start_relay();
  relay->impair(Towards::listener, {.delay_of_all = 240ms});
  have_another_program_listen();
  DialRequest clear = request();
  clear.credentials.reset();
  clear.session.protection = Protection::clear;
  start_dialing(std::move(clear));
  EXPECT_EQ(winner(), TransportKind::native);
  EXPECT_TRUE(was_called());
}

TEST_F(DialAttemptsTest, FailAtOnceWithTheWrongKeyByTcp) {
  relay->blackhole(Towards::listener, true);
  listen_by_tcp(std::move(*Key::generate()));
  const auto began = Attempts::Clock::now();
  start_dialing(request());
  run_until_dialed();
  EXPECT_EQ(error(), Errc::authentication_failed);
  EXPECT_LT(Attempts::Clock::now() - began, kAttemptPatience) << "UDP has not been waited for to its end";
}

TEST_F(DialAttemptsTest, FailAtOnceWithTheWrongKeyByUdp) {
  have_another_program_listen();
  DialRequest wrong = request();
  wrong.credentials = std::move(*Key::generate());
  start_dialing(std::move(wrong));
  run_until_dialed();
  EXPECT_EQ(error(), Errc::authentication_failed);
  EXPECT_FALSE(was_called());
}

TEST_F(DialAttemptsTest, GoOnByUdpWhereAnotherProgramHasTheTcpPort) {
  relay->blackhole(Towards::listener, true);
  have_another_program_listen();
  start_dialing(request());
  run_until([this] { return was_called(); });  // and is hung up
  relay->blackhole(Towards::listener, false);
  EXPECT_EQ(winner(), TransportKind::native);
}

TEST_F(DialAttemptsTest, SayWhatBothHaveSaid) {
  relay->blackhole(Towards::listener, true);
  DialRequest brief = request();
  brief.timeout = 600ms;
  start_dialing(std::move(brief));
  run_until_dialed();
  EXPECT_EQ(error(), Errc::cannot_reach);
  const std::string port = std::to_string(relay->port());
  EXPECT_NE(result->error().message().find("nobody answered at UDP port " + port), std::string::npos)
      << result->error().message();
  EXPECT_NE(result->error().message().find("; by TCP: nobody listens on that TCP port"), std::string::npos)
      << result->error().message();
}

TEST_F(DialAttemptsTest, LeaveTcpAloneWhereOnlyUdpIsWanted) {
  relay->blackhole(Towards::listener, true);
  have_another_program_listen();
  DialRequest by_udp = request();
  by_udp.transport.kind = TransportKind::native;
  by_udp.timeout = 2 * kTcpDelay;
  start_dialing(std::move(by_udp));
  run_until_dialed();
  EXPECT_EQ(error(), Errc::cannot_reach);
  EXPECT_FALSE(was_called());
}

}  // namespace
}  // namespace udtcat::connection
