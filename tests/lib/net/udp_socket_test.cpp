// SPDX-License-Identifier: Apache-2.0
#include "lib/net/udp_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <gtest/gtest.h>

#include "lib/core/user_text.hpp"
#include "lib/net/system_error.hpp"
#include "support/addresses.hpp"

namespace udtcat::net {
namespace {

using test::loopback;

UdpSocket bound(AddressFamily family) {
  auto socket = UdpSocket::open(family).value();
  EXPECT_TRUE(socket.bind(loopback(family)));
  return socket;
}

bool wait_for(const UdpSocket& socket, short events) {
  pollfd wanted{socket.descriptor(), events, 0};
  return ::poll(&wanted, 1, 5000) == 1;
}

Endpoint closed_port(AddressFamily family) { return bound(family).local_endpoint().value(); }

class UdpSockets : public testing::TestWithParam<AddressFamily> {};

TEST_P(UdpSockets, AreBoundWhereTheyWereAskedTo) {
  const auto socket = bound(GetParam());
  const auto local = socket.local_endpoint();
  ASSERT_TRUE(local);
  EXPECT_EQ(local->with_port(0), loopback(GetParam()));
  EXPECT_NE(local->port(), 0);
  EXPECT_EQ(socket.family(), GetParam());
}

TEST_P(UdpSockets, SayWhichAddressIsTaken) {
  const auto first = bound(GetParam());
  auto second = UdpSocket::open(GetParam()).value();
  const auto refused = second.bind(*first.local_endpoint());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::cannot_bind);
  EXPECT_EQ(refused.error().message(),
            "bind udp " + first.local_endpoint()->to_string() + ": " + core::errno_text(EADDRINUSE));
}

TEST_P(UdpSockets, TellTheTimeOfTheLastDatagram) {
  const auto receiver = bound(GetParam());
  const auto asking = receiver.duplicate().value();
  EXPECT_FALSE(asking.last_arrival()) << "nothing came";
  auto sender = UdpSocket::open(GetParam()).value();
  ASSERT_TRUE(sender.connect(*receiver.local_endpoint()));
  const char byte = 1;
  ASSERT_EQ(::send(sender.descriptor(), &byte, 1, 0), 1);
  ASSERT_TRUE(wait_for(receiver, POLLIN));
  char got = 0;
  ASSERT_EQ(::recv(receiver.descriptor(), &got, 1, 0), 1);
  ASSERT_TRUE(asking.last_arrival());
  EXPECT_LT(std::chrono::system_clock::now() - *asking.last_arrival(), std::chrono::seconds(5));
}

TEST_P(UdpSockets, ReportAClosedPortWithThePeersName) {
  const Endpoint nobody = closed_port(GetParam());
  auto socket = bound(GetParam());
  ASSERT_TRUE(socket.keep_path_errors());
  EXPECT_TRUE(socket.take_path_errors(8).empty());
  ASSERT_EQ(::sendto(socket.descriptor(), "x", 1, 0, nobody.data(), static_cast<socklen_t>(nobody.size_bytes())), 1);
  ASSERT_TRUE(wait_for(socket, 0));
  const auto errors = socket.take_path_errors(8);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].peer, nobody);
  EXPECT_EQ(errors[0].errno_value, ECONNREFUSED);
  EXPECT_TRUE(errors[0].port_unreachable);
  EXPECT_TRUE(socket.take_path_errors(8).empty());
}

TEST_P(UdpSockets, TakeNoMoreErrorsThanAskedFor) {
  const Endpoint nobody = closed_port(GetParam());
  auto socket = bound(GetParam());
  ASSERT_TRUE(socket.keep_path_errors());
  for (int i = 0; i < 3; ++i) {
    // A pending error fails the next send once.
    ::sendto(socket.descriptor(), "x", 1, 0, nobody.data(), static_cast<socklen_t>(nobody.size_bytes()));
    ASSERT_TRUE(wait_for(socket, 0));
  }
  const auto first = socket.take_path_errors(1);
  EXPECT_EQ(first.size(), 1U);
}

TEST_P(UdpSockets, ThatAreConnectedReceiveFromTheirPeerOnly) {
  auto peer = bound(GetParam());
  auto stranger = bound(GetParam());
  auto socket = UdpSocket::open(GetParam()).value();
  ASSERT_TRUE(socket.connect(*peer.local_endpoint()));
  const Endpoint local = *socket.local_endpoint();
  for (const auto* sender : {&stranger, &peer})
    ASSERT_EQ(::sendto(sender->descriptor(), "x", 1, 0, local.data(), static_cast<socklen_t>(local.size_bytes())), 1);
  std::array<char, 8> byte{};
  EXPECT_EQ(::recv(socket.descriptor(), byte.data(), byte.size(), MSG_DONTWAIT), 1);
  EXPECT_EQ(::recv(socket.descriptor(), byte.data(), byte.size(), MSG_DONTWAIT), -1);
  EXPECT_GT(socket.path_mtu().value_or(0), 1500U) << "loopback takes large packets";
}

TEST_P(UdpSockets, DiscardReceivedDatagrams) {
  auto socket = bound(GetParam());
  const Endpoint local = *socket.local_endpoint();
  for (int i = 0; i < 5; ++i)
    ::sendto(socket.descriptor(), "xyz", 3, 0, local.data(), static_cast<socklen_t>(local.size_bytes()));
  socket.discard_received();
  std::array<char, 8> bytes{};
  EXPECT_EQ(::recv(socket.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT), -1);
}

INSTANTIATE_TEST_SUITE_P(BothFamilies, UdpSockets, testing::Values(AddressFamily::ipv4, AddressFamily::ipv6),
                         [](const auto& row) { return row.param == AddressFamily::ipv6 ? "Ipv6" : "Ipv4"; });

TEST(UdpSocket, BindsOnePortInBothFamilies) {
  auto ipv6 = UdpSocket::open(AddressFamily::ipv6).value();
  ASSERT_TRUE(ipv6.bind(resolve({"", 0}, AddressFamily::ipv6)->front()));
  auto ipv4 = UdpSocket::open(AddressFamily::ipv4).value();
  EXPECT_TRUE(ipv4.bind(resolve({"", ipv6.local_endpoint()->port()}, AddressFamily::ipv4)->front()));
}

TEST(UdpSocket, ClosesItsDescriptorUnlessReleased) {
  int closed = -1;
  int kept = -1;
  {
    auto first = UdpSocket::open(AddressFamily::ipv4).value();
    auto second = UdpSocket::open(AddressFamily::ipv4).value();
    closed = first.descriptor();
    kept = second.release();
    UdpSocket moved = std::move(first);
    EXPECT_EQ(moved.descriptor(), closed);
    EXPECT_EQ(::fcntl(closed, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::fcntl(closed, F_GETFD), -1);
  EXPECT_EQ(::fcntl(kept, F_GETFD), FD_CLOEXEC);
  ::close(kept);
}

TEST(UdpSocket, DuplicatesToTheNumberAskedFor) {
  const auto socket = bound(AddressFamily::ipv4);
  const auto copy = socket.duplicate(200);
  ASSERT_TRUE(copy);
  EXPECT_GE(copy->descriptor(), 200);
  EXPECT_EQ(*copy->local_endpoint(), *socket.local_endpoint());
  const auto refused = socket.duplicate(1 << 30);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::out_of_resources);
}

TEST(UdpSocket, GetsAsMuchBufferAsTheSystemGives) {
  auto socket = bound(AddressFamily::ipv4);
  socket.request_buffers(256 * 1024, 128 * 1024);
  int bytes = 0;
  socklen_t length = sizeof bytes;
  ASSERT_EQ(::getsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, &length), 0);
  EXPECT_GE(bytes, 200 * 1024);
}

TEST(InterfaceMtu, IsLoopbacksForLoopbackAndForTheWildcard) {
  const auto loopback_mtu = interface_mtu(loopback(AddressFamily::ipv4));
  ASSERT_TRUE(loopback_mtu);
  EXPECT_GT(*loopback_mtu, 1500U);
  EXPECT_GE(interface_mtu(resolve({"", 0}, AddressFamily::ipv4)->front()).value_or(0), *loopback_mtu);
  EXPECT_FALSE(interface_mtu(resolve({"192.0.2.77", 0}, AddressFamily::ipv4)->front()));
}

TEST(SystemError, SaysWhatRanOutOrWhatWasTried) {
  EXPECT_EQ(system_error(Errc::cannot_bind, "bind", EADDRINUSE).value().code, Errc::cannot_bind);
  for (const int code : {EMFILE, ENFILE, ENOMEM, ENOBUFS})
    EXPECT_EQ(system_error(Errc::cannot_bind, "bind", code).value().code, Errc::out_of_resources);
  EXPECT_EQ(system_error(Errc::cannot_bind, "bind", EACCES).value().message(), "bind: " + core::errno_text(EACCES));
}

}  // namespace
}  // namespace udtcat::net
