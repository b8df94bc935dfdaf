// SPDX-License-Identifier: Apache-2.0
#include "lib/core/text.hpp"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(AsText, SeesBytesAsCharacters) {
  const std::array bytes{std::byte{'a'}, std::byte{0}, std::byte{0xff}};
  EXPECT_EQ(as_text(bytes), std::string_view("a\0\xff", 3));
  EXPECT_EQ(as_text({}), "");
}

TEST(ParseNumber, TakesNothingButTheWholeNumber) {
  EXPECT_EQ(parse_number<std::uint16_t>("0"), 0);
  EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(parse_number<std::uint16_t>("007"), 7);
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "1a", "a", "1.5", "0x10"})
    EXPECT_EQ(parse_number<std::uint16_t>(text), std::nullopt) << text;
}

TEST(ParsePortRange, TakesTwoPortsInOrder) {
  EXPECT_EQ(parse_port_range("9000-9100", ":-"), std::pair(std::uint16_t{9000}, std::uint16_t{9100}));
  EXPECT_EQ(parse_port_range("0:0", ":-"), std::pair(std::uint16_t{0}, std::uint16_t{0}));
  for (const char* text : {"", "-", "9000", "9000-", "-9100", "9100-9000", "9000-65536", "9000, 9100", "1-2-3"})
    EXPECT_EQ(parse_port_range(text, "-,"), std::nullopt) << text;
}

TEST(ParseNumber, GivesNothingThatDoesNotFit) {
  EXPECT_EQ(parse_number<std::uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_number<int>("-2147483648"), INT32_MIN);
}

TEST(ParseNumber, ReadsOtherBases) {
  EXPECT_EQ(parse_number<std::uint32_t>("0100007F", 16), 0x0100007FU);
  EXPECT_EQ(parse_number<std::uint32_t>("G", 16), std::nullopt);
}

TEST(Trimmed, LeavesOutTheBlanksAroundAText) {
  EXPECT_EQ(trimmed(" \ta b\t ", " \t"), "a b");
  EXPECT_EQ(trimmed("a", " "), "a");
  EXPECT_EQ(trimmed("\ta ", " "), "\ta") << "only the blanks that it is told count";
}

TEST(Trimmed, LeavesNothingOfBlanks) {
  EXPECT_EQ(trimmed("", " "), "");
  EXPECT_EQ(trimmed(" \t ", " \t"), "");
}

}  // namespace
}  // namespace udtcat::core
