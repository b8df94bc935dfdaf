#include "lib/transport/libudt/packet_size.hpp"

#include <gtest/gtest.h>
#include <udtcat/units.hpp>

namespace udtcat::transport::libudt {
namespace {

constexpr auto kIpv4 = AddressFamily::ipv4;
constexpr auto kIpv6 = AddressFamily::ipv6;

TEST(PacketSize, FillsAnInternetPacketInEitherFamily) {
  EXPECT_EQ(connecting_packet_size(kIpv4, 1500).mss, 1500U);
  EXPECT_EQ(connecting_packet_size(kIpv6, 1500).mss, 1480U);
  EXPECT_EQ(connecting_packet_size(kIpv4, std::nullopt).mss, 1500U);
}

TEST(PacketSize, FollowsASmallerPath) {
  EXPECT_EQ(connecting_packet_size(kIpv4, 1420).mss, 1420U);
  EXPECT_EQ(connecting_packet_size(kIpv6, 1280).mss, 1260U);
  EXPECT_EQ(connecting_packet_size(kIpv4, 68).mss, 576U);
}

TEST(PacketSize, IsLargeOnlyWhereThePathIsThisHost) {
  EXPECT_EQ(connecting_packet_size(kIpv4, 65536).mss, 9000U);
  EXPECT_EQ(connecting_packet_size(kIpv6, 65536).mss, 8980U);
  EXPECT_EQ(connecting_packet_size(kIpv4, 9000).mss, 1500U) << "the first hop's jumbo frames say nothing of the rest";
}

TEST(PacketSize, OfAListenerIsTheMostItCanAgreeTo) {
  EXPECT_EQ(listening_packet_size(kIpv4, 65536).mss, 9000U);
  EXPECT_EQ(listening_packet_size(kIpv4, 4000).mss, 4000U);
  EXPECT_EQ(listening_packet_size(kIpv6, 1500).mss, 1480U);
  EXPECT_EQ(listening_packet_size(kIpv4, std::nullopt).mss, 1500U);
}

TEST(PacketSize, BoundsTheMemoryOfAConnection) {
  for (const std::size_t mtu :
       {std::size_t{576}, std::size_t{1500}, std::size_t{4096}, std::size_t{9000}, std::size_t{65536}})
    for (const auto& size : {connecting_packet_size(kIpv4, mtu), listening_packet_size(kIpv4, mtu)}) {
      EXPECT_LE(size.mss * size.receive_packets, 52 * kMiB) << mtu;
      EXPECT_LE(size.mss * size.send_packets, 40 * kMiB) << mtu;
      EXPECT_GE(size.receive_packets, 5600U) << "enough for a peer of Internet packets";
      EXPECT_LE(size.receive_packets, 65536U) << "what the guard of the other end lets a handshake claim";
    }
}

}  // namespace
}  // namespace udtcat::transport::libudt
