// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udp_port.hpp"

#include <sys/socket.h>

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <udtcat/units.hpp>

#include "lib/transport/native/packet.hpp"
#include "support/addresses.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kPortMss = 1500;
constexpr std::size_t kFullPacketBytes = kPortMss - 28;  // spec: the headers of IPv4 and UDP
constexpr std::size_t kMoreThanBuffersHold = 20 * kMiB;  // of the port, as the kernel counts them: 16 MiB at most

/// A listening port, and clients whose sockets the test may use too: what the port has not read yet is a backlog.
class UdpPortTest : public testing::Test {
 protected:
  struct Client {
    net::UdpSocket socket;  // the port's, for datagrams of the test's own
    std::unique_ptr<UdpPort> port;
    UdtLink* far = nullptr;  // its link at the listening port
  };

  UdpPortTest() {
    listening->listen({.has_room = [](bool) { return true; }, .on_link = [this](UdtLink& link) { accepted = &link; }});
  }

  static net::UdpSocket bound_socket() {
    auto socket = net::UdpSocket::open(AddressFamily::ipv4).value();
    EXPECT_TRUE(socket.bind(test::loopback(AddressFamily::ipv4)));
    return socket;
  }
  std::unique_ptr<UdpPort> make_port(net::UdpSocket socket) {
    return UdpPort::create(io, std::move(socket), {}, kPortMss, nullptr).value();
  }
  Client connect() {
    net::UdpSocket socket = bound_socket();
    net::UdpSocket again = socket.duplicate().value();
    Client client{std::move(again), make_port(std::move(socket))};
    bool opened = false;
    accepted = nullptr;
    EXPECT_TRUE(client.port->open(listening->local(), {}, 5s, [&](const Result<UdtLink*>& link) {
      EXPECT_TRUE(link);
      opened = true;
    }));
    EXPECT_TRUE(test::run_until(io, [&] { return opened && accepted != nullptr; }));
    client.far = accepted;
    return client;
  }
  /// Data packets with sequence numbers in turn, which spread over the port's sockets. Those without room are dropped.
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
  std::unique_ptr<UdpPort> listening = make_port(bound_socket());
  UdtLink* accepted = nullptr;  // the latest
  std::uint32_t sequence = 0;
  std::size_t sent_bytes = 0;
};

TEST_F(UdpPortTest, TellsOfAnOverloadWhoBroughtAtLeastHalfAnEqualShareOfIt) {
  const Client much = connect();
  const Client more_than_half_a_share = connect();
  const Client little = connect();
  const Client nothing = connect();
  while (sent_bytes < kMoreThanBuffersHold) {
    send(much, 8);
    send(more_than_half_a_share, 3);
    send(little, 1);
  }
  ASSERT_TRUE(test::run_until(io, [&] { return much.far->overloads > 0; }));
  EXPECT_EQ(much.far->overloads, 1U);
  EXPECT_EQ(more_than_half_a_share.far->overloads, 1U);
  EXPECT_EQ(little.far->overloads, 0U);
  EXPECT_EQ(nothing.far->overloads, 0U);
}

TEST_F(UdpPortTest, TellsNobodyOfABacklogThatIsSmall) {
  const Client client = connect();
  send(client, 20);
  ASSERT_TRUE(
      test::run_until(io, [&] { return client.far->backlog_bytes >= sent_bytes || client.far->overloads > 0; }));
  EXPECT_EQ(client.far->overloads, 0U);
}

}  // namespace
}  // namespace udtcat::transport::native
