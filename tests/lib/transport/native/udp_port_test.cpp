// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udp_port.hpp"

#include <sys/socket.h>

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <udtcat/units.hpp>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/test_port.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kFullPacketBytes = kTestPortMss - 28;  // spec: the headers of IPv4 and UDP
constexpr std::size_t kMoreThanBuffersHold = 20 * kMiB;      // the port's have 16 MiB at most, as the kernel counts

/// A listening port, and clients whose sockets the test uses, too, so that a backlog of datagrams builds up.
class UdpPortTest : public testing::Test {
 protected:
  struct Client {
    net::UdpSocket socket;  // the port's, for datagrams of the test
    std::unique_ptr<UdpPort> port;
    UdtLink* far = nullptr;  // its link at the listening port
  };

  UdpPortTest() {
    listening->listen({.has_room = [](bool) { return true; }, .on_link = [this](UdtLink& link) { accepted = &link; }});
  }

  Client connect() {
    net::UdpSocket socket = bound_socket(AddressFamily::ipv4);
    net::UdpSocket again = socket.duplicate().value();
    Client client{std::move(again), test_port(io, std::move(socket))};
    bool opened = false;
    accepted = nullptr;
    EXPECT_TRUE(client.port->open(listening->local(), {}, 5s, [&](const Result<UdtLink*>& link) {
      EXPECT_TRUE(link);
      opened = true;
    }));
    EXPECT_TRUE(udtcat::test::run_until(io, [&] { return opened && accepted != nullptr; }));
    client.far = accepted;
    return client;
  }
  /// Sends data packets; those for which the port's sockets have no room are dropped.
  void send(const Client& client, int packets) {
    for (int i = 0; i < packets; ++i) {
      std::vector<std::byte> packet(kFullPacketBytes);
      encode(DataHeader{++sequence, 0, 0, client.far->connection.local_id()}, std::span(packet).first<kHeaderBytes>());
      const Endpoint to = listening->local();
      const auto sent = ::sendto(client.socket.descriptor(), packet.data(), packet.size(), 0, to.data(),
                                 static_cast<socklen_t>(to.size_bytes()));
      ASSERT_EQ(sent, static_cast<ssize_t>(packet.size()));
      sent_bytes += packet.size();
    }
  }

  boost::asio::io_context io{1};
  std::unique_ptr<UdpPort> listening = test_port(io);
  UdtLink* accepted = nullptr;  // the latest
  std::uint32_t sequence = 0;
  std::size_t sent_bytes = 0;
};

TEST_F(UdpPortTest, TellsConnectionsThatBringAtLeastHalfAnEqualShareOfAnOverload) {
  const Client much = connect();
  const Client half_a_share = connect();
  const Client little = connect();
  const Client nothing = connect();
  while (sent_bytes < kMoreThanBuffersHold) {
    send(much, 8);
    send(half_a_share, 3);
    send(little, 1);
  }
  ASSERT_TRUE(udtcat::test::run_until(io, [&] { return much.far->share.overloads > 0; }));
  EXPECT_EQ(much.far->share.overloads, 1U);
  EXPECT_EQ(half_a_share.far->share.overloads, 1U);
  EXPECT_EQ(little.far->share.overloads, 0U);
  EXPECT_EQ(nothing.far->share.overloads, 0U);
}

TEST_F(UdpPortTest, TellsNoConnectionOfASmallBacklog) {
  const Client client = connect();
  send(client, 20);
  ASSERT_TRUE(udtcat::test::run_until(
      io, [&] { return client.far->share.backlog_bytes >= sent_bytes || client.far->share.overloads > 0; }));
  EXPECT_EQ(client.far->share.overloads, 0U);
}

}  // namespace
}  // namespace udtcat::transport::native
