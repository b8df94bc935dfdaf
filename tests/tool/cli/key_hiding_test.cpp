// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/key_hiding.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

TEST(KeyHiding, LeavesNothingOfAKeyInAText) {
  EXPECT_EQ(without_keys("udtcat receive h:1/udtcat1-aB_-9 in"), "udtcat receive h:1/udtcat1-... in");
  EXPECT_EQ(without_keys("udtcat1-a udtcat1- 'udtcat1-b'"), "udtcat1-... udtcat1- 'udtcat1-...'");
  EXPECT_EQ(without_keys("udtcat1-udtcat1-a"), "udtcat1-...");
  EXPECT_EQ(without_keys("udtcat-ed25519 A6EH"), "udtcat-ed25519 A6EH");
  EXPECT_EQ(without_keys(""), "");
}

TEST(KeyHiding, OverwritesKeysAmongArguments) {
  std::string words[] = {"udtcat", "h:1/udtcat1-secret", "-kudtcat1-x/y", ""};
  std::array<char*, 4> argv{words[0].data(), words[1].data(), words[2].data(), words[3].data()};
  hide_keys(argv);
  EXPECT_EQ(words[0], "udtcat");
  EXPECT_EQ(words[1], "h:1/udtcat1-xxxxxx");
  EXPECT_EQ(words[2], "-kudtcat1-x/y");
}

}  // namespace
}  // namespace udtcat::tool
