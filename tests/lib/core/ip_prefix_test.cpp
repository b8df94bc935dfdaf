// SPDX-License-Identifier: Apache-2.0
#include "lib/core/ip_prefix.hpp"

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat::core {
namespace {

Prefix of(const char* host) { return prefix_of(test::address_of(host, 9000)); }

TEST(Prefix, IsTheSameWithinASite) {
  EXPECT_EQ(of("192.0.2.1"), of("192.0.2.254"));
  EXPECT_EQ(of("2001:db8:0:1200::1"), of("2001:db8:0:12ff:ffff::2"));
}

TEST(Prefix, TellsSitesApart) {
  EXPECT_NE(of("192.0.2.1"), of("192.0.3.1"));
  EXPECT_NE(of("192.0.2.1"), of("193.0.2.1"));
  EXPECT_NE(of("2001:db8:0:1200::1"), of("2001:db8:0:1300::1"));
  EXPECT_NE(of("::"), of("0.0.0.0"));
}

TEST(Prefix, DoesNotDependOnThePort) {
  const Endpoint one = test::address_of("192.0.2.1", 1);
  EXPECT_EQ(prefix_of(one), prefix_of(one.with_port(2)));
}

TEST(Host, IsAnIpv4AddressOrAnIpv6Prefix) {
  const auto host = [](const char* name) { return host_of(test::address_of(name, 9000)); };
  EXPECT_NE(host("192.0.2.1"), host("192.0.2.2"));
  EXPECT_EQ(host("2001:db8:0:1234::1"), host("2001:db8:0:1234:ffff::2"));
  EXPECT_NE(host("2001:db8:0:1234::1"), host("2001:db8:0:1235::1"));
  EXPECT_NE(host("::"), host("0.0.0.0"));
}

TEST(PrefixCounts, TellHowMuchEachHasAndAllTogether) {
  PrefixCounts held;
  for (const Prefix prefix : {1U, 2U, 2U}) held.add(prefix);
  EXPECT_EQ(held.of(1), 1U);
  EXPECT_EQ(held.of(2), 2U);
  EXPECT_EQ(held.of(3), 0U);
  EXPECT_EQ(held.all(), 3U);
}

TEST(PrefixCounts, ForgetWhatIsGivenBack) {
  PrefixCounts held;
  for (const Prefix prefix : {1U, 2U, 2U}) held.add(prefix);
  held.remove(1);
  held.remove(2);
  EXPECT_EQ(held.of(1), 0U);
  EXPECT_EQ(held.of(2), 1U);
  EXPECT_EQ(held.all(), 1U);
}

}  // namespace
}  // namespace udtcat::core
