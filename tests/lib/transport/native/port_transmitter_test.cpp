// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/port_transmitter.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/test_port.hpp"

namespace udtcat::transport::native {
namespace {

/// A connection to a socket of this host, and a transmitter that sends its trains.
class PortTransmitterTest : public testing::Test {
 protected:
  static net::DatagramSocket socket() {
    return net::DatagramSocket::make(bound_socket(AddressFamily::ipv4), {.tell_local = true}).value();
  }
  UdtConnection connection(const Endpoint& peer) {
    ConnectionSettings settings;
    settings.peer = PeerKind::own;
    settings.local_id = 1;
    settings.peer_id = 2;
    settings.mss = 1500;
    settings.flow_window = 100;
    settings.peer_address = peer;
    settings.options.memory_bytes = 1 << 20;
    settings.started = clock_now();
    return {settings, chunks};
  }
  void write_to(UdtConnection& connection, std::size_t bytes) {
    connection.write(core::SharedBytes::adopt(numbered_bytes(bytes)));
    transmitter.transmit(connection);
  }
  /// How many data packets have come.
  std::size_t arrived_packets() {
    std::vector<net::ReceivedTrain> trains;
    net::wait_readable(far.readable_descriptor(), std::chrono::seconds(10));
    while (far.receive(trains, 64, chunks) > 0) continue;
    std::size_t packets = 0;
    for (const auto& train : trains)
      if (!is_control(train.chunk.bytes()))
        packets += (train.total_bytes + train.segment_bytes - 1) / train.segment_bytes;
    return packets;
  }

  boost::asio::io_context io;
  core::ChunkPool chunks{65'536};
  net::DatagramSocket near = socket();
  net::DatagramSocket far = socket();
  const Endpoint far_address = far.socket().local_endpoint().value();
  Tunnel tunnel;
  int unblocked = 0;
  PortTransmitter transmitter{io, near, tunnel, [this] { ++unblocked; }};
};

TEST_F(PortTransmitterTest, SendsAllThatAConnectionHas) {
  UdtConnection to_far = connection(far_address);
  write_to(to_far, 5000);
  EXPECT_EQ(to_far.sent_offset(), 5000U);
  EXPECT_EQ(arrived_packets(), 5U);
  EXPECT_FALSE(transmitter.blocked());
}

TEST_F(PortTransmitterTest, GivesTheTunnelWhatIsForItsAddress) {
  std::size_t given = 0;
  tunnel.open(AddressFamily::ipv4, [&](std::span<const std::byte>) { ++given; });
  UdtConnection to_tunnel = connection(tunnel_address(AddressFamily::ipv4));
  write_to(to_tunnel, 3000);
  EXPECT_GE(given, 3U);
}

TEST_F(PortTransmitterTest, SendsOnePacketOfNoConnection) {
  EXPECT_EQ(transmitter.send_alone(std::vector<std::byte>(16), far_address, std::nullopt).state, net::SendState::sent);
  EXPECT_EQ(arrived_packets(), 1U);
}

}  // namespace
}  // namespace udtcat::transport::native
