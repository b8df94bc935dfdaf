// SPDX-License-Identifier: Apache-2.0
// STUN beside connections, on the port that carries them.
#include <gmock/gmock.h>

#include "lib/net/bind.hpp"
#include "lib/net/stun.hpp"
#include "lib/transport/engine.hpp"
#include "support/addresses.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport::native {
namespace {

using testing::ElementsAre;

struct Came {
  Endpoint from;
  std::optional<net::StunMessage> message;
};

class StunBesideConnections : public testing::Test {
 protected:
  void SetUp() override {
    listening = std::move(*make_native_engine(io, {}, {}));
    dialling = std::move(*make_native_engine(io, {}, {}));
    acceptor = std::move(*listening->listen({net::loopback(AddressFamily::ipv4)}));
    acceptor->on_stun([this](const Endpoint& from, std::span<const std::byte> message) {
      at_listener.push_back({from, net::decode_stun(message)});
    });
    dialling->on_stun([this](const Endpoint& from, std::span<const std::byte> message) {
      at_dialler.push_back({from, net::decode_stun(message)});
    });
  }
  [[nodiscard]] Endpoint listener() const { return acceptor->local_endpoints().front(); }

  boost::asio::io_context io;
  std::unique_ptr<Engine> listening;
  std::unique_ptr<Engine> dialling;
  std::unique_ptr<Acceptor> acceptor;
  std::vector<Came> at_listener;
  std::vector<Came> at_dialler;
};

net::StunMessage request(std::uint8_t in_number_of_connection = 0) {
  net::StunMessage message{.type = net::StunMessage::Type::request};
  message.transaction.front() = std::byte{1};
  message.transaction[5] = std::byte{in_number_of_connection};
  return message;
}

TEST_F(StunBesideConnections, GoesToAListeningPortAndBack) {
  const auto port = dialling->open_dialling_port(AddressFamily::ipv4);
  ASSERT_TRUE(port);
  dialling->send_stun(listener(), net::encode(request()));
  dialling->send_stun(listener(), net::encode(request(7)));
  ASSERT_TRUE(udtcat::test::run_until(io, [this] { return at_listener.size() == 2; }));
  EXPECT_EQ(at_listener.front().from, net::loopback(AddressFamily::ipv4).with_port(*port));
  EXPECT_EQ(at_listener.front().message, request());
  EXPECT_EQ(at_listener.back().message, request(7)) << "of a client that draws all of its transaction id";
  acceptor->send_stun(at_listener.front().from, net::encode(request()));
  ASSERT_TRUE(udtcat::test::run_until(io, [this] { return at_dialler.size() == 1; }));
  EXPECT_EQ(at_dialler.front().from, listener());
}

TEST_F(StunBesideConnections, IsAnsweredFromTheAddressThatWasAsked) {
  std::ignore = dialling->open_dialling_port(AddressFamily::ipv4);
  const auto of_any_address = std::move(*listening->listen({net::wildcard(AddressFamily::ipv4)}));
  of_any_address->on_stun([&](const Endpoint& from, std::span<const std::byte> message) {
    of_any_address->send_stun(from, {message.begin(), message.end()});
  });
  const Endpoint asked = udtcat::test::address_of("127.0.0.2", of_any_address->local_endpoints().front().port());
  dialling->send_stun(asked, net::encode(request()));
  ASSERT_TRUE(udtcat::test::run_until(io, [this] { return at_dialler.size() == 1; }));
  EXPECT_EQ(at_dialler.front().from, asked);
}

TEST_F(StunBesideConnections, LeavesFromThePortOfConnections) {
  const auto port = dialling->open_dialling_port(AddressFamily::ipv4);
  std::vector<std::uint16_t> from;
  acceptor->async_accept([&](Result<std::unique_ptr<Channel>> channel) { from.push_back((*channel)->peer().port()); });
  std::unique_ptr<Channel> kept;
  dialling->async_connect(listener(), {}, std::chrono::seconds(10),
                          [&](Result<std::unique_ptr<Channel>> channel) { kept = std::move(*channel); });
  ASSERT_TRUE(udtcat::test::run_until(io, [&] { return !from.empty() && kept != nullptr; }));
  EXPECT_THAT(from, ElementsAre(*port));
  EXPECT_EQ(dialling->open_dialling_port(AddressFamily::ipv4), *port) << "it stays";
}

}  // namespace
}  // namespace udtcat::transport::native
