// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <sys/socket.h>

#include <array>
#include <set>

#include "lib/connection/dial_attempts.hpp"
#include "lib/connection/two_ends.hpp"
#include "lib/net/udp_socket.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using DialerTest = TwoEnds;

TEST_F(DialerTest, ReachesAListenerThatHoldsTheKey) {
  start_listening(listen_request());
  start_dialing(dial_request());
  run_until_dialed();
  ASSERT_TRUE(*result) << result->error().message();
  run_until([this] { return welcomed.size() == 1; });
  EXPECT_TRUE(refusals.empty());
}

TEST_F(DialerTest, OpensTheFlowsItIsAskedFor) {
  for (const auto protection : {Protection::clear, Protection::auth, Protection::safe, Protection::private_}) {
    auto listening = listen_request();
    listening.session.protection = protection;
    if (protection == Protection::clear) listening.credentials.reset();
    start_listening(std::move(listening));
    auto request = dial_request();
    request.session.protection = protection;
    request.session.flows = 16;
    if (protection == Protection::clear) request.credentials.reset();
    start_dialing(std::move(request));
    run_until_dialed();
    ASSERT_TRUE(*result) << result->error().message();
    run_until([this] { return (**result)->stats().flows == 16; });
  }
}

TEST_F(DialerTest, IsRefusedAtOnceWithTheWrongKey) {
  start_listening(listen_request());
  auto request = dial_request();
  request.credentials = std::move(*Key::generate());
  start_dialing(std::move(request));
  run_until_dialed();
  EXPECT_EQ(error(), Errc::authentication_failed);
}

TEST_F(DialerTest, TriesTheNextAddressWhenOneIsDead) {
  start_listening(listen_request());
  auto request = dial_request();
  const auto port = request.addresses.front().port();
  request.addresses.insert(request.addresses.begin(), std::move(*resolve({"::1", port}, AddressFamily::any)).front());
  start_dialing(std::move(request));
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
}

TEST_F(DialerTest, GivesUpSoonWhenThePortIsClosed) {
  start_listening(listen_request());
  auto request = dial_request();
  listener.reset();
  const auto start = std::chrono::steady_clock::now();
  start_dialing(std::move(request));
  run_until_dialed();
  EXPECT_EQ(error(), Errc::cannot_reach);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 8s) << "well before the ten seconds for a host that says nothing";
}

TEST_F(DialerTest, NamesThePortWhereNobodyAnswers) {
  start_listening(listen_request());
  auto request = dial_request();
  const boost::asio::ip::udp::socket silent(io, {boost::asio::ip::address_v4::loopback(), 0});
  const std::uint16_t port = silent.local_endpoint().port();
  request.addresses = {request.addresses.front().with_port(port)};
  request.timeout = 300ms;
  start_dialing(std::move(request));
  run_until_dialed();
  EXPECT_EQ(error(), Errc::cannot_reach);
  EXPECT_NE(result->error().message().find("nobody answered at UDP port " + std::to_string(port) + ": "),
            std::string::npos)
      << result->error().message();
}

TEST_F(DialerTest, AsksAClosedPortForAsLongAsItIsTold) {
  start_listening(listen_request());
  auto request = dial_request();
  auto again = listen_request();
  again.locals = listener->local_endpoints();
  listener.reset();
  request.closed_port_patience = 10s;
  start_dialing(std::move(request));
  boost::asio::steady_timer later(io, 3500ms);  // when the two seconds of the default are over
  later.async_wait([&](const boost::system::error_code&) { start_listening(std::move(again)); });
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
}

TEST_F(DialerTest, WaitsForAListenerThatIsJustBeingStarted) {
  start_listening(listen_request());
  auto request = dial_request();
  auto again = listen_request();
  again.locals = listener->local_endpoints();
  listener.reset();
  start_dialing(std::move(request));
  boost::asio::steady_timer later(io, 500ms);
  later.async_wait([&](const boost::system::error_code&) { start_listening(std::move(again)); });
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
}

Endpoint address_of(const char* host, std::uint16_t port = 9000) {
  return resolve({host, port}, AddressFamily::any).value().front();
}

/// A port that hears everything and says nothing.
class SilentPort {
 public:
  explicit SilentPort(const char* host = "127.0.0.1") { EXPECT_TRUE(socket_.bind(address_of(host, 0))); }
  [[nodiscard]] Endpoint address() const { return socket_.local_endpoint().value(); }
  /// The ports from which something has come.
  [[nodiscard]] std::set<std::uint16_t> sources() {
    std::array<std::byte, 2048> bytes{};
    sockaddr_in from{};
    for (socklen_t size = sizeof from; ::recvfrom(socket_.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT,
                                                  reinterpret_cast<sockaddr*>(&from), &size) >= 0;)
      sources_.insert(ntohs(from.sin_port));
    return sources_;
  }

 private:
  net::UdpSocket socket_ = net::UdpSocket::open(AddressFamily::ipv4).value();
  std::set<std::uint16_t> sources_;
};

TEST_F(DialerTest, IsHardlyHeldUpByAnAddressThatSaysNothing) {
  start_listening(listen_request());
  SilentPort silent;
  auto request = dial_request();
  request.addresses.insert(request.addresses.begin(), silent.address());
  const auto start = std::chrono::steady_clock::now();
  start_dialing(std::move(request));
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s) << "an attempt alone takes longer";
}

TEST_F(DialerTest, PassesOverAnAddressWhereSomebodyHasAnotherKey) {
  auto other = listen_request();
  other.credentials = std::move(*Key::generate());
  start_listening(std::move(other));
  const auto strangers = std::move(listener);
  start_listening(listen_request());
  auto request = dial_request();
  request.addresses.insert(request.addresses.begin(), strangers->local_endpoints().front());
  start_dialing(std::move(request));
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
}

TEST_F(DialerTest, AsksFromAnotherPortWhereNobodyAnswered) {
  start_listening(listen_request());
  SilentPort silent;
  auto request = dial_request();
  request.addresses = {silent.address()};
  start_dialing(std::move(request));
  run_until([&] { return silent.sources().size() > 1; });
}

TEST_F(DialerTest, LooksItsNameUpAgainWhereNobodyAnswered) {
  start_listening(listen_request());
  SilentPort silent;
  auto request = dial_request();
  request.name = HostPort{"localhost", request.addresses.front().port()};
  request.family = AddressFamily::ipv4;
  request.addresses = {silent.address()};
  start_dialing(std::move(request));
  run_until_dialed();
  EXPECT_TRUE(*result) << result->error().message();
}

TEST_F(DialerTest, CanBeDestroyedWhileItTries) {
  start_listening(listen_request());
  start_dialing(dial_request());
  for (int i = 0; i < 5; ++i) io.run_one_for(10ms);
  dialer.reset();
  io.run_for(50ms);
  EXPECT_FALSE(result);
}

TEST_F(DialerTest, RefusesToDialForAnApplicationWithoutAName) {
  start_listening(listen_request());
  DialRequest request = dial_request();
  request.session.application.clear();
  start_dialing(std::move(request));
  run_until_dialed();
  EXPECT_EQ(error(), Errc::bad_argument);
}

}  // namespace
}  // namespace udtcat::connection
