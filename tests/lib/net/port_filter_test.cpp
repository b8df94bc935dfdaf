// SPDX-License-Identifier: Apache-2.0
#include "lib/net/port_filter.hpp"

#include <sys/socket.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "lib/core/byte_order.hpp"
#include "support/addresses.hpp"

namespace udtcat::net {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFilterPorts = 3;
constexpr std::uint32_t kSocketsEach = 2;

/// The sockets of a port, as they were bound.
class PortFilterTest : public testing::Test {
 protected:
  PortFilterTest() {
    EXPECT_TRUE(sender.bind(test::loopback(AddressFamily::ipv4)));
    sockets.push_back(UdpSocket::open(AddressFamily::ipv4).value());
    EXPECT_TRUE(sockets.front().bind(test::loopback(AddressFamily::ipv4)));
    EXPECT_TRUE(share_port(sockets.front()));
    local = sockets.front().local_endpoint().value();
    while (sockets.size() < kFilterPorts * kSocketsEach) {
      UdpSocket& more = sockets.emplace_back(UdpSocket::open(AddressFamily::ipv4).value());
      EXPECT_TRUE(share_port(more));
      EXPECT_TRUE(more.bind(local));
    }
  }

  void use(std::uint32_t open_ports) {
    EXPECT_TRUE(
        attach(sockets.back(),
               {.ports = kFilterPorts, .open_ports = open_ports, .sockets = kSocketsEach, .run_packets = kRunPackets}));
  }
  /// The number of the socket that gets it.
  std::optional<std::size_t> receiver_of(std::span<const std::byte> packet) {
    EXPECT_EQ(::sendto(sender.descriptor(), packet.data(), packet.size(), 0, local.data(),
                       static_cast<socklen_t>(local.size_bytes())),
              static_cast<ssize_t>(packet.size()));
    std::array<std::byte, 64> into{};
    for (std::size_t i = 0; i < sockets.size(); ++i)
      if (::recv(sockets[i].descriptor(), into.data(), into.size(), MSG_DONTWAIT) > 0) return i;
    return std::nullopt;
  }
  std::optional<std::size_t> receiver_of(std::uint32_t first, std::uint32_t second, std::uint32_t id) {
    std::array<std::byte, 20> packet{};
    core::store_be(std::span<std::byte>(packet), first);
    core::store_be(std::span<std::byte>(packet).subspan(4), second);
    core::store_be(std::span<std::byte>(packet).subspan(12), id);
    return receiver_of(packet);
  }

  static constexpr std::uint32_t kRunPackets = 100;
  static constexpr std::uint32_t kAnyMessage = 0xc000'0001;
  static constexpr std::uint32_t kAck = 0x8002'0000;
  UdpSocket sender = UdpSocket::open(AddressFamily::ipv4).value();
  std::vector<UdpSocket> sockets;
  Endpoint local;
};

TEST_F(PortFilterTest, GivesTheDataOfAConnectionToItsPortInRuns) {
  use(kFilterPorts);
  for (std::uint32_t id : {1U, 5U, 0x7fff'ffffU, 123'456U, 3U, 2U}) {
    const std::size_t first = id % kFilterPorts * kSocketsEach;
    EXPECT_EQ(receiver_of(0, kAnyMessage, id), first) << id;
    EXPECT_EQ(receiver_of(kRunPackets - 1, kAnyMessage, id), first) << id;
    EXPECT_EQ(receiver_of(kRunPackets, kAnyMessage, id), first + 1) << id;
    EXPECT_EQ(receiver_of(2 * kRunPackets, kAnyMessage, id), first) << id;
  }
}

TEST_F(PortFilterTest, GivesTheControlPacketsOfAConnectionToItsPort) {
  use(kFilterPorts);
  for (std::uint32_t id : {1U, 5U, 6U}) {
    const auto at = receiver_of(kAck, 7, id);
    ASSERT_TRUE(at);
    EXPECT_EQ(*at / kSocketsEach, id % kFilterPorts) << id;
  }
}

TEST_F(PortFilterTest, GivesHandshakesStunAndShortPacketsToTheFirst) {
  use(kFilterPorts);
  EXPECT_EQ(receiver_of(0x8000'0000, 0, 1), 0U);
  EXPECT_EQ(receiver_of(0x8000'abcd, 0, 1), 0U);
  EXPECT_EQ(receiver_of(0x0001'0000, 0x2112'a442, 1), 0U);
  EXPECT_EQ(receiver_of(std::vector<std::byte>(15, std::byte{1})), 0U);
  EXPECT_EQ(receiver_of(std::vector<std::byte>(1)), 0U);
}

TEST_F(PortFilterTest, GivesTheFirstWhatIsForAPortThatIsNotOpenYet) {
  use(2);
  EXPECT_EQ(receiver_of(0, kAnyMessage, 2), 0U);
  EXPECT_EQ(receiver_of(0, kAnyMessage, 1), kSocketsEach);
  use(3);
  EXPECT_EQ(receiver_of(0, kAnyMessage, 2), 2 * kSocketsEach);
}

TEST(SharePort, KeepsAPortThatIsNotSharedFromOthers) {
  UdpSocket one = UdpSocket::open(AddressFamily::ipv4).value();
  ASSERT_TRUE(one.bind(test::loopback(AddressFamily::ipv4)));
  UdpSocket other = UdpSocket::open(AddressFamily::ipv4).value();
  ASSERT_TRUE(share_port(other));
  EXPECT_EQ(other.bind(one.local_endpoint().value()).error().code, Errc::cannot_bind);
}

}  // namespace
}  // namespace udtcat::net
