#include <udtcat/endpoint.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include <gtest/gtest.h>

namespace udtcat {
namespace {

Endpoint numeric(const std::string& host, std::uint16_t port) {
  const auto found = resolve({host, port}, AddressFamily::any);
  EXPECT_TRUE(found) << found.error().message();
  return found->front();
}

TEST(Endpoint, PrintsIpv4AndIpv6TheWayUsersWriteThem) {
  EXPECT_EQ(numeric("192.0.2.1", 9000).to_string(), "192.0.2.1:9000");
  EXPECT_EQ(numeric("192.0.2.1", 9000).host_to_string(), "192.0.2.1");
  EXPECT_EQ(numeric("2001:db8::1", 9000).to_string(), "[2001:db8::1]:9000");
  EXPECT_EQ(numeric("2001:db8::1", 9000).host_to_string(), "2001:db8::1");
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
  EXPECT_EQ(*endpoint, numeric("127.0.0.1", 80));
  EXPECT_FALSE(*endpoint == numeric("127.0.0.1", 81));
  EXPECT_FALSE(*endpoint == numeric("127.0.0.2", 80));
  EXPECT_FALSE(*endpoint == numeric("::1", 80));
}

TEST(Endpoint, TakesAPortWithoutChangingTheAddress) {
  EXPECT_EQ(numeric("127.0.0.1", 1).with_port(65535), numeric("127.0.0.1", 65535));
  EXPECT_EQ(numeric("::1", 1).with_port(65535).port(), 65535);
}

TEST(Endpoint, KnowsWildcardsAndLoopback) {
  EXPECT_TRUE(numeric("0.0.0.0", 1).is_wildcard());
  EXPECT_TRUE(numeric("::", 1).is_wildcard());
  EXPECT_FALSE(numeric("127.0.0.1", 1).is_wildcard());
  EXPECT_TRUE(numeric("127.3.2.1", 1).is_loopback());
  EXPECT_TRUE(numeric("::1", 1).is_loopback());
  EXPECT_TRUE(numeric("::ffff:127.0.0.1", 1).is_loopback());
  EXPECT_FALSE(numeric("128.0.0.1", 1).is_loopback());
  EXPECT_FALSE(numeric("::2", 1).is_loopback());
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
