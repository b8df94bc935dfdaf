// SPDX-License-Identifier: Apache-2.0
#include "lib/core/printable.hpp"

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

using namespace std::string_literals;

TEST(Printable, LeavesValidTextAlone) {
  EXPECT_EQ(printable("", 10), "");
  EXPECT_EQ(printable("plain, ünïcode, 日本, 🚀", 100), "plain, ünïcode, 日本, 🚀");
}

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb\r\n\x7f\0c"s, 100), "a?[31mb????c");
  EXPECT_EQ(printable("\xc2\x9b", 100), "??");  // C1, the one-byte form of ESC [
}

TEST(Printable, ReplacesMalformedBytes) {
  EXPECT_EQ(printable("\xff", 100), "?");
  EXPECT_EQ(printable("\xc3", 100), "?");                 // cut off
  EXPECT_EQ(printable("\xc0\xaf", 100), "??");            // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf", 100), "???");       // overlong
  EXPECT_EQ(printable("\xed\xa0\x80", 100), "???");       // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80", 100), "????");  // beyond the last code point
  EXPECT_EQ(printable("\xc3(", 100), "?(");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("aü", 3), "aü");
  EXPECT_EQ(printable("aü", 2), "a");
  EXPECT_EQ(printable("aaa", 2), "aa");
}

TEST(Printable, IsIdempotent) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string once = printable(std::string{static_cast<char>(first), static_cast<char>(second), 'x'}, 100);
      EXPECT_EQ(printable(once, 100), once);
    }
}

}  // namespace
}  // namespace udtcat::core
