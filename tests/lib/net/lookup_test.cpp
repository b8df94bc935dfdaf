// SPDX-License-Identifier: Apache-2.0
#include "lib/net/lookup.hpp"

#include <gtest/gtest.h>

namespace udtcat::net {
namespace {

TEST(LookupResult, GivesAnAddressItsPort) {
  const LookupResult answer = look_up({"127.0.0.1", 9000}, AddressFamily::any);
  ASSERT_TRUE(answer.found);
  ASSERT_EQ(answer.found->size(), 1U);
  EXPECT_EQ(answer.found->front().to_string(), "127.0.0.1:9000");
}

TEST(LookupResult, RefusesAnAddressOfTheOtherFamily) {
  const LookupResult answer = look_up({"127.0.0.1", 9000}, AddressFamily::ipv6);
  EXPECT_FALSE(answer.found);
  EXPECT_FALSE(answer.resolver_failed) << "the answer would be the same the next time";
}

}  // namespace
}  // namespace udtcat::net
