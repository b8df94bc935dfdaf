// SPDX-License-Identifier: Apache-2.0
#include "ssh/port_range.hpp"

#include <gmock/gmock.h>

namespace udtcat::ssh {
namespace {

TEST(PortRanges, AreAPortOrTwo) {
  EXPECT_EQ(parse_port_range("9000").value().last, 9000);
  EXPECT_EQ(parse_port_range("9000:9005").value().last, 9005);
  EXPECT_EQ(parse_port_range("0").value().first, 0);
  for (const char* text : {"", "x", "9001-9000", "1-", "-1", "65536", "0-5", "1-2-3"})
    EXPECT_FALSE(parse_port_range(text)) << text;
}

TEST(PortRanges, AreTriedAllEachOnce) {
  EXPECT_THAT(ports_of({9000, 9003}), testing::UnorderedElementsAre(9000, 9001, 9002, 9003));
  EXPECT_THAT(ports_of({65535, 65535}), testing::ElementsAre(65535));
}

}  // namespace
}  // namespace udtcat::ssh
