// SPDX-License-Identifier: Apache-2.0
#include "lib/core/pattern.hpp"

#include <string>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(Pattern, MatchesTheWholeOfAText) {
  for (const char* pattern : {"*", "a*", "*.dat", "a.d?t", "a*t", "***", "a.dat", "*a*a*"})
    EXPECT_TRUE(matches(pattern, "a.dat")) << pattern;
  for (const char* pattern : {"", "b*", "*.da", "a.d?", "?", "*x*", "a.dat?", "A.dat"})
    EXPECT_FALSE(matches(pattern, "a.dat")) << pattern;
  EXPECT_TRUE(matches("*", "") && matches("", ""));
}

TEST(Pattern, ComparesBytesAsItsCallerDoes) {
  EXPECT_TRUE(matches("a?*x", "aby", [](char a, char b) { return a == b || a == 'x'; }));
}

TEST(Pattern, EndsInBoundedTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + 'b', std::string(255, 'a')));
}

}  // namespace
}  // namespace udtcat::core
