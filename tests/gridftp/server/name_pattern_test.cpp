// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/name_pattern.hpp"

#include <string>

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

TEST(NamePattern, MatchesAsAShellDoes) {
  for (const char* pattern : {"*", "a*", "*.dat", "a.d?t", "a*t", "***", "a.dat", "*a*a*"})
    EXPECT_TRUE(matches(pattern, "a.dat")) << pattern;
  for (const char* pattern : {"", "b*", "*.da", "a.d?", "?", "*x*", "a.dat?"})
    EXPECT_FALSE(matches(pattern, "a.dat")) << pattern;
  EXPECT_FALSE(matches("*", ".hidden"));
  EXPECT_TRUE(matches(".*", ".hidden"));
}

TEST(NamePattern, IsInTheLastNameOfAPath) {
  EXPECT_TRUE(is_pattern("*.dat") && is_pattern("/a/b?"));
  EXPECT_FALSE(is_pattern("/a*/b") || is_pattern("") || is_pattern("/a/"));
}

TEST(NamePattern, EndsInBoundedTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + 'b', std::string(255, 'a')));
}

}  // namespace
}  // namespace udtcat::gridftp
