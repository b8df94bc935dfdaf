// SPDX-License-Identifier: Apache-2.0
#include "lib/net/address_bytes.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::net {
namespace {

TEST(AddressBytes, AreThoseOfTheAddress) {
  for (const auto& [host, bytes] :
       {std::pair("192.0.2.1", "c0000201"), std::pair("2001:db8::1", "20010db8000000000000000000000001")}) {
    const Endpoint endpoint = resolve({host, 9000}, AddressFamily::any)->front();
    EXPECT_EQ(test::to_hex(address_bytes(endpoint)), bytes);
    EXPECT_EQ(endpoint_of(address_bytes(endpoint), 9000), endpoint);
  }
}

TEST(AddressBytes, AreFourOrSixteen) {
  for (const std::size_t bytes : {0U, 3U, 5U, 15U, 17U}) EXPECT_FALSE(endpoint_of(std::vector<std::byte>(bytes), 1));
  EXPECT_TRUE(address_bytes(Endpoint()).empty());
}

}  // namespace
}  // namespace udtcat::net
