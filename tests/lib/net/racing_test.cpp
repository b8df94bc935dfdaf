// SPDX-License-Identifier: Apache-2.0
#include "lib/net/racing.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat::net {
namespace {

TEST(RacingOrder, HasTheFamiliesTakeTurns) {
  const auto v4 = [](int i) { return test::address_of("192.0.2." + std::to_string(i), 9000); };
  const auto v6 = [](int i) { return test::address_of("2001:db8::" + std::to_string(i), 9000); };
  EXPECT_EQ(in_racing_order({v6(1), v6(2), v6(3), v4(1), v4(2)}), (std::vector{v6(1), v4(1), v6(2), v4(2), v6(3)}));
  EXPECT_EQ(in_racing_order({v4(1), v4(2)}), (std::vector{v4(1), v4(2)}));
  EXPECT_EQ(in_racing_order({v4(1), v6(1)}), (std::vector{v4(1), v6(1)}));
  EXPECT_EQ(in_racing_order({v4(1)}), std::vector{v4(1)});
  EXPECT_EQ(in_racing_order(std::vector(100, v4(1))).size(), kMaxRacedAddresses);
}

}  // namespace
}  // namespace udtcat::net
