// SPDX-License-Identifier: Apache-2.0
#include <udtcat/endpoint.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat {
namespace {

TEST(Endpoint, PrintsIpv4AndIpv6TheWayUsersWriteThem) {
  EXPECT_EQ(test::address_of("192.0.2.1", 9000).to_string(), "192.0.2.1:9000");
  EXPECT_EQ(test::address_of("192.0.2.1", 9000).host_to_string(), "192.0.2.1");
  EXPECT_EQ(test::address_of("2001:db8::1", 9000).to_string(), "[2001:db8::1]:9000");
  EXPECT_EQ(test::address_of("2001:db8::1", 9000).host_to_string(), "2001:db8::1");
}

TEST(Endpoint, WithoutAnAddressHasNoFamilyAndNoPort) {
  EXPECT_EQ(Endpoint().family(), AddressFamily::any);
  EXPECT_EQ(Endpoint().port(), 0);
  EXPECT_EQ(Endpoint().with_port(5), Endpoint());
  EXPECT_FALSE(Endpoint().is_wildcard());
  EXPECT_FALSE(Endpoint().is_loopback());
  EXPECT_EQ(Endpoint().host_to_string(), "*");
}

TEST(Endpoint, ComparesByContentAndNotByPadding) {
  sockaddr_in dirty;
  std::memset(&dirty, 0xff, sizeof dirty);
  dirty.sin_family = AF_INET;
  dirty.sin_port = htons(80);
  dirty.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto endpoint = Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&dirty), sizeof dirty);
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(*endpoint, test::address_of("127.0.0.1", 80));
  EXPECT_FALSE(*endpoint == test::address_of("127.0.0.1", 81));
  EXPECT_FALSE(*endpoint == test::address_of("127.0.0.2", 80));
  EXPECT_FALSE(*endpoint == test::address_of("::1", 80));
}

TEST(Endpoint, TakesAPortWithoutChangingTheAddress) {
  EXPECT_EQ(test::address_of("127.0.0.1", 1).with_port(65535), test::address_of("127.0.0.1", 65535));
  EXPECT_EQ(test::address_of("::1", 1).with_port(65535).port(), 65535);
}

TEST(Endpoint, KnowsWildcardsAndLoopback) {
  EXPECT_TRUE(test::address_of("0.0.0.0", 1).is_wildcard());
  EXPECT_TRUE(test::address_of("::", 1).is_wildcard());
  EXPECT_FALSE(test::address_of("127.0.0.1", 1).is_wildcard());
  EXPECT_TRUE(test::address_of("127.3.2.1", 1).is_loopback());
  EXPECT_TRUE(test::address_of("::1", 1).is_loopback());
  EXPECT_TRUE(test::address_of("::ffff:127.0.0.1", 1).is_loopback());
  EXPECT_FALSE(test::address_of("128.0.0.1", 1).is_loopback());
  EXPECT_FALSE(test::address_of("::2", 1).is_loopback());
}

TEST(Endpoint, RefusesOtherFamiliesAndShortAddresses) {
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  const auto refused = Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&local), sizeof local);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::bad_argument);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  for (std::size_t length = 0; length < sizeof address; ++length)
    EXPECT_FALSE(Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&address), length)) << length;
  EXPECT_FALSE(Endpoint::from_sockaddr(nullptr, 16));
}

}  // namespace
}  // namespace udtcat
