// SPDX-License-Identifier: Apache-2.0
#include "wan/flow.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "wan/packets.hpp"
#include "wan/super_packet.hpp"

namespace udtcat::wan {
namespace {

constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kUdp = 17;

Bytes udp_packet(bool ipv6 = false, std::size_t payload_bytes = 500) {
  return make_packet({.ipv6 = ipv6, .udp = true, .from_port = 4000, .to_port = 9000}, payload_bytes);
}

std::byte& ip_byte(Bytes& packet, std::size_t at) { return packet[kVirtioHeaderBytes + at]; }

/// From 10.77.0.1 to 10.77.0.2.
Flow flow_of_port(std::uint16_t port, std::uint8_t protocol = kUdp) {
  Flow flow{.from = {.port = port}, .to = {.port = 9000}, .protocol = protocol};
  flow.from.address = {std::byte{10}, std::byte{77}, std::byte{0}, std::byte{1}};
  flow.to.address = {std::byte{10}, std::byte{77}, std::byte{0}, std::byte{2}};
  return flow;
}

TEST(Flow, HasThePacketsAddressesPortsAndProtocol) {
  for (const bool ipv6 : {false, true}) {
    for (const bool udp : {false, true}) {
      const PacketKind kind{.ipv6 = ipv6, .udp = udp, .from_port = 4000, .to_port = 9000};
      const Bytes packet = make_packet(kind, 5000);
      const Flow flow = flow_of(packet);
      EXPECT_EQ(flow.from.port, 4000);
      EXPECT_EQ(flow.to.port, 9000);
      EXPECT_EQ(flow.protocol, udp ? kUdp : kTcp);
      const std::size_t length = ipv6 ? 16 : 4;
      const auto addresses = packet.begin() + static_cast<std::ptrdiff_t>(kVirtioHeaderBytes + (ipv6 ? 8 : 12));
      EXPECT_TRUE(std::equal(addresses, addresses + static_cast<std::ptrdiff_t>(length), flow.from.address.begin()));
      EXPECT_EQ(flow.to.address[0], packet[kVirtioHeaderBytes + (ipv6 ? 24 : 16)]);
    }
  }
}

TEST(Flow, FindsThePortsBehindIpv4Options) {
  Bytes packet = udp_packet();
  ip_byte(packet, 0) = std::byte{0x46};
  packet.insert(packet.begin() + kVirtioHeaderBytes + 20, 4, std::byte{1});
  EXPECT_EQ(flow_of(packet).from.port, 4000);
}

TEST(Flow, IsTheCommonOneOfAllThatHasNoPorts) {
  Bytes icmp = udp_packet();
  ip_byte(icmp, 9) = std::byte{1};
  Bytes first_fragment = udp_packet();
  ip_byte(first_fragment, 6) = std::byte{0x20};
  Bytes last_fragment = udp_packet();
  ip_byte(last_fragment, 7) = std::byte{1};
  Bytes extended = udp_packet(true);
  ip_byte(extended, 6) = std::byte{0};
  Bytes ipv5 = udp_packet();
  ip_byte(ipv5, 0) = std::byte{0x55};
  for (const Bytes& packet : {icmp, first_fragment, last_fragment, extended, ipv5}) EXPECT_EQ(flow_of(packet), Flow{});
  Bytes whole = udp_packet();
  ip_byte(whole, 6) = std::byte{0x40};
  EXPECT_NE(flow_of(whole), Flow{}) << "that it must not become fragments is no fragment";
}

TEST(Flow, IsTheCommonOneOfEveryTruncation) {
  for (const bool ipv6 : {false, true}) {
    const Bytes packet = udp_packet(ipv6);
    const std::size_t enough = kVirtioHeaderBytes + (ipv6 ? 40 : 20) + 4;
    for (std::size_t length = 0; length < enough; ++length)
      EXPECT_EQ(flow_of(std::span(packet).first(length)), Flow{}) << length;
    EXPECT_NE(flow_of(std::span(packet).first(enough)), Flow{});
  }
}

TEST(Flow, TakesTheSamePathBothWays) {
  for (std::uint16_t port = 1; port < 200; ++port) {
    const Flow out = flow_of_port(port);
    const Flow back{.from = out.to, .to = out.from, .protocol = out.protocol};
    EXPECT_EQ(path_of(out, 7), path_of(back, 7));
    EXPECT_NE(out, back) << "a policer tells them apart";
  }
}

TEST(Flow, IsHashedByEachOfItsParts) {
  const Flow flow = flow_of_port(4000);
  Flow other_address = flow;
  other_address.from.address[15] = std::byte{1};
  Flow exchanged = flow;
  std::swap(exchanged.from.port, exchanged.to.port);
  const std::set<std::uint64_t> hashes{hash_of(flow), hash_of(flow_of_port(4001)), hash_of(flow_of_port(4000, kTcp)),
                                       hash_of(other_address), hash_of(exchanged)};
  EXPECT_EQ(hashes.size(), 5U);
}

TEST(Flow, SpreadsNeighbouringPortsEvenly) {
  for (const std::size_t paths : {2U, 3U, 16U}) {
    std::vector<int> taken(paths);
    constexpr int kFlows = 16'000;
    for (std::uint16_t port = 0; port < kFlows; ++port) ++taken.at(path_of(flow_of_port(port), paths));
    const double expected = static_cast<double>(kFlows) / static_cast<double>(paths);
    for (const int flows : taken) EXPECT_NEAR(flows, expected, 5 * std::sqrt(expected)) << paths;
  }
}

TEST(Flow, OfAllThatHasNoPortsTakesTheFirstPath) {
  for (const std::size_t paths : {1U, 2U, 16U}) EXPECT_EQ(path_of(Flow{}, paths), 0U);
}

}  // namespace
}  // namespace udtcat::wan
