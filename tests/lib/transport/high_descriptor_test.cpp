#include "lib/transport/libudt/high_descriptor.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <gtest/gtest.h>

namespace udtcat::transport::libudt {
namespace {

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
