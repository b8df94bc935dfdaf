// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <udtcat/units.hpp>

#include "lib/transport/libudt/udt_socket.hpp"

namespace udtcat::transport::libudt {
namespace {

constexpr auto kIpv4 = AddressFamily::ipv4;
constexpr auto kIpv6 = AddressFamily::ipv6;

TEST(PacketSize, FillsAnInternetPacketInEitherFamily) {
  EXPECT_EQ(connecting_mss(kIpv4, 1500), 1500U);
  EXPECT_EQ(connecting_mss(kIpv6, 1500), 1480U);
  EXPECT_EQ(connecting_mss(kIpv4, std::nullopt), 1500U);
}

TEST(PacketSize, FollowsASmallerPath) {
  EXPECT_EQ(connecting_mss(kIpv4, 1420), 1420U);
  EXPECT_EQ(connecting_mss(kIpv6, 1280), 1260U);
  EXPECT_EQ(connecting_mss(kIpv4, 68), 576U);
}

TEST(PacketSize, IsLargeOnlyWhereThePathIsThisHost) {
  EXPECT_EQ(connecting_mss(kIpv4, 65536), 9000U);
  EXPECT_EQ(connecting_mss(kIpv6, 65536), 8980U);
  EXPECT_EQ(connecting_mss(kIpv4, 9000), 1500U) << "the first hop's jumbo frames say nothing of the rest";
}

TEST(PacketSize, OfAListenerIsTheMostItCanAgreeTo) {
  EXPECT_EQ(listening_mss(kIpv4, 65536), 9000U);
  EXPECT_EQ(listening_mss(kIpv4, 4000), 4000U);
  EXPECT_EQ(listening_mss(kIpv6, 1500), 1480U);
  EXPECT_EQ(listening_mss(kIpv4, std::nullopt), 1500U);
}

TEST(PacketSize, BoundsTheMemoryOfAConnection) {
  for (const std::size_t mtu :
       {std::size_t{576}, std::size_t{1500}, std::size_t{4096}, std::size_t{9000}, std::size_t{65536}})
    for (const auto mss : {connecting_mss(kIpv4, mtu), listening_mss(kIpv4, mtu)}) {
      EXPECT_LE(mss * receive_packets(mss), 52 * kMiB) << mtu;
      EXPECT_LE(mss * send_packets(mss), 40 * kMiB) << mtu;
      EXPECT_GE(receive_packets(mss), 5600U) << "enough for a peer of Internet packets";
      EXPECT_LE(receive_packets(mss), 65536U) << "what the guard of the other end lets a handshake claim";
    }
}

net::UdpSocket bound() {
  auto socket = net::UdpSocket::open(AddressFamily::ipv4).value();
  EXPECT_TRUE(socket.bind(resolve({"127.0.0.1", 0}, AddressFamily::ipv4)->front()));
  return socket;
}

TEST(HighDescriptor, IsFarAboveTheLowestFreeNumberAndNotUsedTwiceInARow) {
  const auto socket = bound();
  int before = -1;
  for (int i = 0; i < 3; ++i) {
    const auto high = duplicate_high(socket);
    ASSERT_TRUE(high);
    EXPECT_GE(high->descriptor(), 64);
    EXPECT_NE(high->descriptor(), before);
    EXPECT_EQ(*high->local_endpoint(), *socket.local_endpoint());
    before = high->descriptor();
  }
}

TEST(HighDescriptor, FollowsTheLimitOfTheProcess) {
  const auto socket = bound();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  for (const rlim_t limit : {rlim_t{64}, rlim_t{256}}) {
    const rlimit lowered{limit, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
    const auto high = duplicate_high(socket);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_TRUE(high);
    EXPECT_GE(high->descriptor(), static_cast<int>(limit / 2));
  }
}

TEST(ReplaceDescriptor, KeepsTheReceiveTimeoutAndClosesOnExec) {
  const auto first = bound();
  const auto second = bound();
  const auto shared = second.duplicate();
  ASSERT_TRUE(shared);
  const timeval timeout{0, 100'000};
  ASSERT_EQ(::setsockopt(shared->descriptor(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), 0);
  ASSERT_TRUE(replace_descriptor(shared->descriptor(), first));
  EXPECT_EQ(*shared->local_endpoint(), *first.local_endpoint());
  EXPECT_EQ(::fcntl(shared->descriptor(), F_GETFD), FD_CLOEXEC);
  timeval kept{};
  socklen_t length = sizeof kept;
  ASSERT_EQ(::getsockopt(first.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &kept, &length), 0);
  EXPECT_EQ(kept.tv_sec, 0);
  EXPECT_GT(kept.tv_usec, 0);
}

}  // namespace
}  // namespace udtcat::transport::libudt
