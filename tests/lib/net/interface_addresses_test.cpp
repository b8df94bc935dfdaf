// SPDX-License-Identifier: Apache-2.0
#include "lib/net/interface_addresses.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat::net {
namespace {

TEST(InterfaceAddresses, ThatOthersCanUseAreToldFromTheRest) {
  for (const char* usable : {"192.0.2.1", "10.1.2.3", "2001:db8::1", "fd00::1"})
    EXPECT_TRUE(is_global_unicast(test::address_of(usable, 9000))) << usable;
  for (const char* not_usable :
       {"0.0.0.0", "127.0.0.1", "169.254.1.1", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "ff02::1"})
    EXPECT_FALSE(is_global_unicast(test::address_of(not_usable, 9000))) << not_usable;
}

TEST(InterfaceAddresses, HaveTheLoopbackAmongThem) {
  EXPECT_TRUE(std::ranges::any_of(interface_addresses(), [](const Endpoint& each) { return each.is_loopback(); }));
}

TEST(SourceAddress, IsThatOfTheRoute) {
  const auto towards_ourselves = source_address(resolve({"127.0.0.1", 9}, AddressFamily::ipv4)->front());
  ASSERT_TRUE(towards_ourselves);
  EXPECT_EQ(towards_ourselves->to_string(), "127.0.0.1:0");
}

}  // namespace
}  // namespace udtcat::net
