// SPDX-License-Identifier: Apache-2.0
#include "forward/redial_backoff.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace udtcat::forward {
namespace {

using std::chrono::milliseconds;

TEST(RedialBackoff, IsZeroAtFirstAndDoublesUpToHalfAMinute) {
  std::minstd_rand random(1);
  RedialBackoff pause;
  EXPECT_EQ(pause.next(random), milliseconds(0));
  for (const int longest : {1'000, 2'000, 4'000, 8'000, 16'000, 30'000, 30'000}) {
    const auto drawn = pause.next(random);
    EXPECT_LE(drawn, milliseconds(longest));
    EXPECT_GE(drawn, milliseconds(longest * 3 / 4));
  }
  pause.reset();
  EXPECT_EQ(pause.next(random), milliseconds(0));
}

TEST(RedialBackoff, SpreadsTheAttemptsOfManyPeers) {
  std::minstd_rand random(1);
  std::vector<milliseconds> drawn;
  for (int i = 0; i < 100; ++i) {
    RedialBackoff pause;
    std::ignore = pause.next(random);
    drawn.push_back(pause.next(random));
  }
  const auto [least, most] = std::ranges::minmax(drawn);
  EXPECT_GE(most - least, milliseconds(200));
}

}  // namespace
}  // namespace udtcat::forward
